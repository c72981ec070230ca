resource "aws_vpc" "v" {
  cidr_block = "10.30.0.0/16"
}

resource "aws_subnet" "s" {
  vpc_id            = aws_vpc.v.id
  cidr_block        = "10.30.1.0/24"
  availability_zone = "${local.region}a"
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

output "imports" {
  value = {
    "aws_network_acl.a"                = aws_network_acl.a.id
    "aws_network_acl_rule.ping"        = "${aws_network_acl.bare.id}:50:icmp:false"
    "aws_network_acl_association.s[0]" = one(aws_network_acl_association.s[*].id)
  }
}
