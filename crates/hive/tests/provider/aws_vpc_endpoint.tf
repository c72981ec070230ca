locals {
  policy = local.second ? jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = "*", Action = "s3:GetObject", Resource = "*" }]
  }) : null
}

data "aws_vpc_endpoint_service" "s3" {
  service      = "s3"
  service_type = "Gateway"
}

resource "aws_vpc" "a" {
  cidr_block           = "10.40.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_route_table" "a" {
  vpc_id = aws_vpc.a.id
}

resource "aws_subnet" "a" {
  count             = 2
  vpc_id            = aws_vpc.a.id
  cidr_block        = "10.40.${count.index}.0/24"
  availability_zone = "${local.region}${["a", "b"][count.index]}"
}

resource "aws_security_group" "door" {
  count  = 2
  name   = "door ${count.index}"
  vpc_id = aws_vpc.a.id
}

resource "aws_vpc_endpoint" "gateway" {
  vpc_id          = aws_vpc.a.id
  service_name    = "com.amazonaws.${local.region}.s3"
  route_table_ids = local.second ? [aws_route_table.a.id] : []
  policy          = local.policy
  tags            = local.tags
}

resource "aws_vpc_endpoint" "interface" {
  vpc_id              = aws_vpc.a.id
  vpc_endpoint_type   = "Interface"
  service_name        = "com.amazonaws.${local.region}.ssm"
  subnet_ids          = local.second ? aws_subnet.a[*].id : [aws_subnet.a[0].id]
  security_group_ids  = local.second ? aws_security_group.door[*].id : [aws_security_group.door[0].id]
  private_dns_enabled = local.second
  tags                = local.tags
}

output "imports" {
  value = {
    "aws_vpc_endpoint.gateway"   = aws_vpc_endpoint.gateway.id
    "aws_vpc_endpoint.interface" = aws_vpc_endpoint.interface.id
  }
}
