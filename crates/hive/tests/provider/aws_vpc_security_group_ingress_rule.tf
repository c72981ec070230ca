resource "aws_vpc" "v" {
  cidr_block = "10.30.0.0/16"
}

resource "aws_security_group" "s" {
  count  = 3
  name   = "group-${count.index}"
  vpc_id = aws_vpc.v.id
}

resource "aws_vpc_security_group_ingress_rule" "web" {
  security_group_id = aws_security_group.s[0].id
  cidr_ipv4         = local.second ? "10.1.0.0/16" : "10.0.0.0/8"
  ip_protocol       = local.second ? "udp" : "tcp"
  from_port         = local.second ? 79 : 80
  to_port           = local.second ? 81 : 80
  description       = local.second ? "web, changed" : "web"
  tags              = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "web6" {
  security_group_id = aws_security_group.s[0].id
  cidr_ipv6         = local.second ? "fd00::/8" : "::/0"
  ip_protocol       = "-1"
}

resource "aws_vpc_security_group_ingress_rule" "group" {
  security_group_id            = aws_security_group.s[0].id
  referenced_security_group_id = aws_security_group.s[local.second ? 2 : 1].id
  ip_protocol                  = "-1"
}

output "imports" {
  value = {
    "aws_vpc_security_group_ingress_rule.web"   = aws_vpc_security_group_ingress_rule.web.id
    "aws_vpc_security_group_ingress_rule.web6"  = aws_vpc_security_group_ingress_rule.web6.id
    "aws_vpc_security_group_ingress_rule.group" = aws_vpc_security_group_ingress_rule.group.id
  }
}
