resource "aws_vpc" "v" {
  cidr_block = "10.30.0.0/16"
}

resource "aws_security_group" "s" {
  name   = "group"
  vpc_id = aws_vpc.v.id
}

resource "aws_security_group_rule" "in" {
  security_group_id = aws_security_group.s.id
  type              = "ingress"
  protocol          = "udp"
  from_port         = 53
  to_port           = 53
  cidr_blocks       = ["10.0.0.0/8"]
  description       = local.second ? "names, changed" : "names"
}

resource "aws_security_group_rule" "out" {
  security_group_id = aws_security_group.s.id
  type              = "egress"
  protocol          = "tcp"
  from_port         = 1
  to_port           = 65535
  self              = true
  description       = local.second ? "itself, changed" : "itself"
}

output "imports" {
  value = {
    "aws_security_group_rule.in"  = "${aws_security_group.s.id}_ingress_udp_53_53_10.0.0.0/8"
    "aws_security_group_rule.out" = "${aws_security_group.s.id}_egress_tcp_1_65535_self"
  }
}
