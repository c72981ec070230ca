resource "aws_vpc" "v" {
  cidr_block = "10.30.0.0/16"
}

resource "aws_vpc" "w" {
  cidr_block = "10.31.0.0/16"
}

resource "aws_internet_gateway" "g" {
  vpc_id = local.second ? aws_vpc.w.id : aws_vpc.v.id
  tags   = local.tags
}

output "imports" {
  value = {
    "aws_internet_gateway.g" = aws_internet_gateway.g.id
  }
}
