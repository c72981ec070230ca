//! A connection that ends with a request which was not read to its end. The answer is there, but a client that still sends
//! looks for it only afterwards, and closing on what it sent makes the system throw the answer away. So the rest is read
//! and discarded, for a while.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Whoever sends for longer, or more, loses the answer.
const PATIENCE: Duration = Duration::from_secs(2);
const MOST: usize = 64 * 1024 * 1024;
const AT_ONCE: usize = 16 * 1024;

pub(crate) struct Lingering<S> {
    stream: S,
    /// Set by whoever answers a request without having read it.
    unread: Arc<AtomicBool>,
    /// Since its own half is closed.
    ends: Option<Pin<Box<Sleep>>>,
    discarded: usize,
}

impl<S> Lingering<S> {
    pub fn new(stream: S, unread: Arc<AtomicBool>) -> Self {
        Self { stream, unread, ends: None, discarded: 0 }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    /// Says that there is no more to come, then listens until the other side says so, too.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.ends.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
        }
        if !this.unread.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        let ends = this.ends.get_or_insert_with(|| Box::pin(tokio::time::sleep(PATIENCE)));
        let mut bytes = [0; AT_ONCE];
        while this.discarded < MOST && ends.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut bytes);
            // Whatever goes wrong now, nobody waits for anything any more.
            let read = ready!(Pin::new(&mut this.stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
            this.discarded += buffer.filled().len();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}
