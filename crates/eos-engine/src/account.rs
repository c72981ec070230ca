//! Who runs this, by the account's name.

/// The account's name from the list of accounts, which is where tofu has it from too; none for one that is not listed.
pub fn account_name() -> Option<String> {
    let number = rustix::process::getuid().as_raw().to_string();
    let accounts = fs_err::read_to_string("/etc/passwd").unwrap_or_default();
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number).then(|| name.to_owned())
    })
}
