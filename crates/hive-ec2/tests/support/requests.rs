//! The requests of `requests.txt`, and what their places are filled with.

const IMAGE: &str = "ami-00000000000000d01";

/// How often, and what.
pub fn requests() -> impl Iterator<Item = (usize, &'static str)> {
    let lines = include_str!("requests.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').map(|(often, what)| (often.parse().unwrap(), what)).unwrap())
}

/// What was made, for requests to name.
pub struct Made {
    /// A part of an IPv6 block that was given to a VPC.
    block: String,
    ids: Vec<String>,
}

impl Default for Made {
    fn default() -> Self {
        Self { block: "2001:db8::/64".to_owned(), ids: Vec::new() }
    }
}

impl Made {
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Every id in an answer may be used later.
    pub fn learn(&mut self, text: &str) {
        for piece in text.split(['<', '>', ' ']) {
            if let Some(block) = piece.strip_suffix("::/56") {
                self.block = format!("{block}::/64");
            }
            let is_id = piece.rsplit_once('-').is_some_and(|(prefix, digits)| {
                digits.len() == 17 && !prefix.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
            });
            if is_id && piece != IMAGE && !self.ids.iter().any(|known| known == piece) {
                self.ids.push(piece.to_owned());
            }
        }
    }

    fn pick(&self, prefix: &str, choice: u8) -> String {
        let known: Vec<&String> =
            self.ids.iter().filter(|id| id.rsplit_once('-').is_some_and(|(p, _)| p == prefix)).collect();
        match known.len() {
            0 => format!("{prefix}-00000000000000000"),
            // Mostly young ones, so that changes meet each other; sometimes any, so that stale ids are used too.
            count if choice < 200 => known[count - 1 - choice as usize % count.min(3)].clone(),
            count => known[choice as usize % count].clone(),
        }
    }

    /// A request of the table with two numbers in it.
    pub fn query(&self, request: &str, a: u8, b: u8) -> String {
        let mut pieces = request.split('{');
        let mut query = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (what, rest) = piece.split_once('}').unwrap();
            query += &match (what, what.split_once([':', '%'])) {
                ("ami", _) => IMAGE.to_owned(),
                ("block", _) => self.block.clone(),
                ("b", _) => b.to_string(),
                (_, Some(("a", prefix))) => self.pick(prefix, a),
                (_, Some(("b", left))) => {
                    left.parse().map_or_else(|_| self.pick(left, b), |left: u8| (b % left).to_string())
                }
                _ => panic!("{request}"),
            };
            query += rest;
        }
        query
    }
}
