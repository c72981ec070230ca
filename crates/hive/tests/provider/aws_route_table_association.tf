resource "aws_vpc" "v" {
  cidr_block = "10.30.0.0/16"
}

resource "aws_subnet" "s" {
  vpc_id            = aws_vpc.v.id
  cidr_block        = "10.30.1.0/24"
  availability_zone = "${local.region}a"
}

resource "aws_route_table" "r" {
  count  = 2
  vpc_id = aws_vpc.v.id
}

resource "aws_route_table_association" "a" {
  subnet_id      = aws_subnet.s.id
  route_table_id = aws_route_table.r[local.second ? 1 : 0].id
}

output "imports" {
  value = {
    "aws_route_table_association.a" = "${aws_subnet.s.id}/${aws_route_table_association.a.route_table_id}"
  }
}
