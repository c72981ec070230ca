# What stands at the borders of a VPC: NAT and egress-only gateways, network ACLs, DHCP options. `step` 2 changes what
# can be changed in place.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {}

variable "step" {
  type = number
}

variable "public_key" {
  type = string
}

locals {
  second = var.step == 2
  tags   = local.second ? { Step = "two" } : { Step = "one", Gone = "soon" }
}

resource "aws_vpc" "v" {
  cidr_block                       = "10.40.0.0/16"
  assign_generated_ipv6_cidr_block = true
}

resource "aws_subnet" "s" {
  vpc_id     = aws_vpc.v.id
  cidr_block = "10.40.1.0/24"
}

resource "aws_internet_gateway" "g" {
  vpc_id = aws_vpc.v.id
}

resource "aws_eip" "n" {
  domain     = "vpc"
  depends_on = [aws_internet_gateway.g]
}

resource "aws_nat_gateway" "public" {
  subnet_id     = aws_subnet.s.id
  allocation_id = aws_eip.n.id
  tags          = local.tags
}

resource "aws_nat_gateway" "private" {
  subnet_id         = aws_subnet.s.id
  connectivity_type = "private"
}

resource "aws_egress_only_internet_gateway" "e" {
  vpc_id = aws_vpc.v.id
  tags   = local.tags
}

resource "aws_route_table" "r" {
  vpc_id = aws_vpc.v.id

  route {
    cidr_block     = "0.0.0.0/0"
    nat_gateway_id = local.second ? aws_nat_gateway.private.id : aws_nat_gateway.public.id
  }

  route {
    ipv6_cidr_block        = "::/0"
    egress_only_gateway_id = aws_egress_only_internet_gateway.e.id
  }
}

resource "aws_egress_only_internet_gateway" "other" {
  vpc_id = aws_vpc.v.id
}

resource "aws_route_table" "single" {
  vpc_id = aws_vpc.v.id
}

resource "aws_route" "out" {
  route_table_id         = aws_route_table.single.id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = local.second ? aws_nat_gateway.private.id : aws_nat_gateway.public.id
}

resource "aws_route" "out6" {
  route_table_id              = aws_route_table.single.id
  destination_ipv6_cidr_block = "::/0"
  egress_only_gateway_id      = local.second ? aws_egress_only_internet_gateway.other.id : aws_egress_only_internet_gateway.e.id
}

resource "aws_network_acl" "a" {
  vpc_id     = aws_vpc.v.id
  subnet_ids = local.second ? [] : [aws_subnet.s.id]
  tags       = local.tags

  ingress {
    rule_no    = 100
    action     = local.second ? "deny" : "allow"
    protocol   = "tcp"
    cidr_block = "10.0.0.0/8"
    from_port  = 80
    to_port    = 80
  }

  egress {
    rule_no         = 200
    action          = local.second ? "deny" : "allow"
    protocol        = "-1"
    ipv6_cidr_block = "::/0"
    from_port       = 0
    to_port         = 0
  }
}

resource "aws_network_acl" "bare" {
  vpc_id = aws_vpc.v.id
}

resource "aws_network_acl_rule" "ping" {
  network_acl_id = aws_network_acl.bare.id
  rule_number    = 50
  protocol       = "icmp"
  rule_action    = "allow"
  cidr_block     = "10.0.0.0/8"
  icmp_type      = 8
  icmp_code      = -1
}

resource "aws_network_acl_association" "s" {
  count          = local.second ? 1 : 0
  network_acl_id = aws_network_acl.bare.id
  subnet_id      = aws_subnet.s.id
  depends_on     = [aws_network_acl.a]
}

resource "aws_vpc_dhcp_options" "d" {
  domain_name         = "example.internal"
  domain_name_servers = ["10.40.0.2", "10.40.0.3"]
  ntp_servers         = ["10.40.0.4"]
  tags                = local.tags
}

resource "aws_vpc_dhcp_options_association" "d" {
  vpc_id          = aws_vpc.v.id
  dhcp_options_id = aws_vpc_dhcp_options.d.id
}

output "imports" {
  value = {
    "aws_network_acl_association.s[0]"   = one(aws_network_acl_association.s[*].id)
    "aws_network_acl_rule.ping"          = "${aws_network_acl.bare.id}:50:icmp:false"
    "aws_nat_gateway.public"             = aws_nat_gateway.public.id
    "aws_egress_only_internet_gateway.e" = aws_egress_only_internet_gateway.e.id
    "aws_network_acl.a"                  = aws_network_acl.a.id
    "aws_vpc_dhcp_options.d"             = aws_vpc_dhcp_options.d.id
    "aws_vpc_dhcp_options_association.d" = aws_vpc.v.id
  }
}
