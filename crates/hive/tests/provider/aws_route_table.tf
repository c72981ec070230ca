resource "aws_vpc" "v" {
  cidr_block                       = "10.30.0.0/16"
  assign_generated_ipv6_cidr_block = true
}

resource "aws_subnet" "s" {
  vpc_id            = aws_vpc.v.id
  cidr_block        = "10.30.1.0/24"
  availability_zone = "${local.region}a"
}

resource "aws_vpc" "peer" {
  cidr_block = "10.31.0.0/16"
}

resource "aws_vpc_peering_connection" "p" {
  vpc_id      = aws_vpc.v.id
  peer_vpc_id = aws_vpc.peer.id
  auto_accept = true
}

resource "aws_internet_gateway" "g" {
  vpc_id = aws_vpc.v.id
}

resource "aws_egress_only_internet_gateway" "e" {
  vpc_id = aws_vpc.v.id
}

resource "aws_nat_gateway" "n" {
  subnet_id         = aws_subnet.s.id
  connectivity_type = "private"
}

resource "aws_network_interface" "n" {
  subnet_id = aws_subnet.s.id
}

resource "aws_route_table" "r" {
  vpc_id = aws_vpc.v.id
  tags   = local.tags
  route {
    cidr_block = local.second ? "203.0.113.0/24" : "198.51.100.0/24"
    gateway_id = aws_internet_gateway.g.id
  }
  route {
    cidr_block           = "192.0.2.0/24"
    gateway_id           = local.second ? null : aws_internet_gateway.g.id
    network_interface_id = local.second ? aws_network_interface.n.id : null
  }
  route {
    cidr_block                = aws_vpc.peer.cidr_block
    nat_gateway_id            = local.second ? null : aws_nat_gateway.n.id
    vpc_peering_connection_id = local.second ? aws_vpc_peering_connection.p.id : null
  }
}

resource "aws_route_table" "r6" {
  vpc_id = aws_vpc.v.id
  route {
    ipv6_cidr_block        = local.second ? "2001:db8::/32" : "::/0"
    gateway_id             = local.second ? aws_internet_gateway.g.id : null
    egress_only_gateway_id = local.second ? null : aws_egress_only_internet_gateway.e.id
  }
}

resource "aws_main_route_table_association" "m" {
  vpc_id         = aws_vpc.v.id
  route_table_id = aws_route_table.r.id
}

# Not here: aws_main_route_table_association, which the provider cannot import.
output "imports" {
  value = {
    "aws_route_table.r"  = aws_route_table.r.id
    "aws_route_table.r6" = aws_route_table.r6.id
  }
}
