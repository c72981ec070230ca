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
}

resource "aws_route" "out" {
  route_table_id         = aws_route_table.r.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = local.second ? null : aws_internet_gateway.g.id
  network_interface_id   = local.second ? aws_network_interface.n.id : null
}

resource "aws_route" "out6" {
  route_table_id              = aws_route_table.r.id
  destination_ipv6_cidr_block = "::/0"
  gateway_id                  = local.second ? aws_internet_gateway.g.id : null
  egress_only_gateway_id      = local.second ? null : aws_egress_only_internet_gateway.e.id
}

resource "aws_route" "over" {
  route_table_id            = aws_route_table.r.id
  destination_cidr_block    = aws_vpc.peer.cidr_block
  nat_gateway_id            = local.second ? null : aws_nat_gateway.n.id
  vpc_peering_connection_id = local.second ? aws_vpc_peering_connection.p.id : null
}

# Inside the network, and more closely than its own route.
resource "aws_route" "within" {
  route_table_id         = aws_route_table.r.id
  destination_cidr_block = aws_subnet.s.cidr_block
  nat_gateway_id         = local.second ? null : aws_nat_gateway.n.id
  network_interface_id   = local.second ? aws_network_interface.n.id : null
}

output "imports" {
  value = {
    "aws_route.out"    = "${aws_route_table.r.id}_0.0.0.0/0"
    "aws_route.out6"   = "${aws_route_table.r.id}_::/0"
    "aws_route.over"   = "${aws_route_table.r.id}_${aws_vpc.peer.cidr_block}"
    "aws_route.within" = "${aws_route_table.r.id}_${aws_subnet.s.cidr_block}"
  }
}
