"""Names as the protocol and as boto3 spell them."""


def query_name(name, member):
    """As the EC2 protocol spells a member: its queryName, or its locationName with a capital."""
    spelt = member.serialization.get("queryName") or member.serialization.get("name", name)
    return spelt[0].upper() + spelt[1:]


def snake(name):
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
