//! Moments that are drawn, and can be drawn again.

/// Numbers that are the same for the same seed (xorshift).
pub struct Seeded(u64);

impl Seeded {
    /// From `EOS_TEST_SEED`, else from the clock; says which.
    #[allow(clippy::print_stderr)]
    pub fn new() -> Seeded {
        let given = std::env::var("EOS_TEST_SEED").ok().and_then(|text| text.parse().ok());
        let now =
            || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros() as u64;
        let seed = given.unwrap_or_else(now);
        eprintln!("EOS_TEST_SEED={seed}");
        Seeded::from(seed)
    }

    pub fn from(seed: u64) -> Seeded {
        Seeded(seed.max(1))
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
