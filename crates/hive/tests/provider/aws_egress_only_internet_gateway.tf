resource "aws_vpc" "v" {
  cidr_block                       = "10.30.0.0/16"
  assign_generated_ipv6_cidr_block = true
}

resource "aws_egress_only_internet_gateway" "e" {
  vpc_id = aws_vpc.v.id
  tags   = local.tags
}

output "imports" {
  value = {
    "aws_egress_only_internet_gateway.e" = aws_egress_only_internet_gateway.e.id
  }
}
