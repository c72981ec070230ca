resource "aws_vpc" "v" {
  cidr_block = "10.30.0.0/16"
}

resource "aws_security_group" "s" {
  name_prefix = "group-"
  description = "every kind of rule"
  vpc_id      = aws_vpc.v.id
  tags        = local.tags
  ingress {
    from_port = local.second ? 8000 : 9000
    to_port   = 9000
    protocol  = "tcp"
    self      = true
  }
  ingress {
    from_port       = 53
    to_port         = 53
    protocol        = local.second ? "udp" : "tcp"
    security_groups = [aws_security_group.other.id]
  }
  ingress {
    from_port   = -1
    to_port     = -1
    protocol    = "icmp"
    cidr_blocks = ["10.0.0.0/8", "192.168.0.0/16"]
    description = local.second ? "ping" : "old text"
  }
  egress {
    from_port        = 0
    to_port          = 0
    protocol         = "-1"
    cidr_blocks      = local.second ? ["10.0.0.0/8"] : ["0.0.0.0/0"]
    ipv6_cidr_blocks = ["::/0"]
  }
}

resource "aws_security_group" "other" {
  name   = "other"
  vpc_id = aws_vpc.v.id
}

output "imports" {
  value = {
    "aws_security_group.s"     = aws_security_group.s.id
    "aws_security_group.other" = aws_security_group.other.id
  }
}
