resource "aws_vpc" "v" {
  cidr_block = "10.30.0.0/16"
}

resource "aws_subnet" "s" {
  vpc_id            = aws_vpc.v.id
  cidr_block        = "10.30.1.0/24"
  availability_zone = "${local.region}a"
}

resource "aws_internet_gateway" "g" {
  vpc_id = aws_vpc.v.id
}

resource "aws_eip" "e" {
  domain     = "vpc"
  depends_on = [aws_internet_gateway.g]
}

resource "aws_nat_gateway" "public" {
  subnet_id     = aws_subnet.s.id
  allocation_id = aws_eip.e.id
  tags          = local.tags
}

resource "aws_nat_gateway" "private" {
  subnet_id         = aws_subnet.s.id
  connectivity_type = "private"
}

output "imports" {
  value = {
    "aws_nat_gateway.public"  = aws_nat_gateway.public.id
    "aws_nat_gateway.private" = aws_nat_gateway.private.id
  }
}
