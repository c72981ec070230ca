resource "aws_vpc" "a" {
  cidr_block           = "10.40.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_vpc" "b" {
  cidr_block           = "10.41.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_vpc_peering_connection" "ab" {
  vpc_id      = aws_vpc.a.id
  peer_vpc_id = aws_vpc.b.id
  auto_accept = true
  tags        = local.tags

  requester {
    allow_remote_vpc_dns_resolution = local.second
  }

  accepter {
    allow_remote_vpc_dns_resolution = local.second
  }
}

# Accepted later.
resource "aws_vpc" "d" {
  cidr_block = "10.43.0.0/16"
}

resource "aws_vpc_peering_connection" "ad" {
  vpc_id      = aws_vpc.a.id
  peer_vpc_id = aws_vpc.d.id
  auto_accept = local.second ? true : null
}

# The same in two halves, so that it can be imported: `auto_accept` is nowhere but in the configuration.
resource "aws_vpc" "c" {
  cidr_block           = "10.42.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_vpc_peering_connection" "ac" {
  vpc_id      = aws_vpc.a.id
  peer_vpc_id = aws_vpc.c.id
  tags        = local.tags
}

resource "aws_vpc_peering_connection_accepter" "ac" {
  vpc_peering_connection_id = aws_vpc_peering_connection.ac.id
  auto_accept               = true
  tags                      = local.tags
}

resource "aws_vpc_peering_connection_options" "ac" {
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.ac.id

  accepter {
    allow_remote_vpc_dns_resolution = local.second
  }
}

# Not the first two: after an import `auto_accept` has to be set again.
output "imports" {
  value = {
    "aws_vpc_peering_connection.ac"         = aws_vpc_peering_connection.ac.id
    "aws_vpc_peering_connection_options.ac" = aws_vpc_peering_connection.ac.id
  }
}
