//! A future that comes to its end also when whoever asked for it goes away: they poll it themselves, which costs nothing,
//! and a task takes it over where it is dropped half-way.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

pub struct ToTheEnd<F: Future<Output: Send> + Send + 'static>(Option<Pin<Box<F>>>);

impl<F: Future<Output: Send> + Send + 'static> ToTheEnd<F> {
    pub fn new(future: F) -> Self {
        Self(Some(Box::pin(future)))
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for ToTheEnd<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // Not put back once it is ready, nor when it panics.
        let mut future = self.0.take().expect("nothing is polled after its end");
        let polled = future.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(future);
        }
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for ToTheEnd<F> {
    fn drop(&mut self) {
        // Without a runtime the process ends, and the next one reads what is durable.
        if let (Some(future), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(future);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_is_dropped_half_way_ends_all_the_same() {
        let ended = Arc::new(AtomicBool::new(false));
        let (answer, pending) = oneshot::channel::<()>();
        let (ends, over) = oneshot::channel::<()>();
        let future = {
            let ended = Arc::clone(&ended);
            ToTheEnd::new(async move {
                let _ = pending.await;
                ended.store(true, Ordering::SeqCst);
                let _ = ends.send(());
            })
        };
        assert!(tokio::time::timeout(Duration::ZERO, future).await.is_err());
        assert!(!ended.load(Ordering::SeqCst));
        answer.send(()).unwrap();
        over.await.unwrap();
        assert!(ended.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn what_is_awaited_answers() {
        assert_eq!(ToTheEnd::new(async { 7 }).await, 7);
    }
}
