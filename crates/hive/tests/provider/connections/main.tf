# Ways from one VPC to another and to services. `step` 1 is how it is made, step 2 changes what can be in place.

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

locals {
  second = var.step == 2
  tags   = local.second ? { Step = "two", Added = "yes" } : { Step = "one", Gone = "soon" }
  policy = local.second ? jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = "*", Action = "s3:GetObject", Resource = "*" }]
  }) : null
}

data "aws_region" "here" {}

resource "aws_vpc" "a" {
  cidr_block           = "10.40.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_vpc" "b" {
  cidr_block           = "10.41.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_vpc_peering_connection" "ab" {
  vpc_id      = aws_vpc.a.id
  peer_vpc_id = aws_vpc.b.id
  auto_accept = true
  tags        = local.tags

  requester {
    allow_remote_vpc_dns_resolution = local.second
  }
}

# The same in two halves, so that it can be imported: `auto_accept` is nowhere but in the configuration.
resource "aws_vpc" "c" {
  cidr_block           = "10.42.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_vpc_peering_connection" "ac" {
  vpc_id      = aws_vpc.a.id
  peer_vpc_id = aws_vpc.c.id
  tags        = local.tags
}

resource "aws_vpc_peering_connection_accepter" "ac" {
  vpc_peering_connection_id = aws_vpc_peering_connection.ac.id
  auto_accept               = true
  tags                      = local.tags
}

resource "aws_vpc_peering_connection_options" "ac" {
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.ac.id

  accepter {
    allow_remote_vpc_dns_resolution = local.second
  }
}

resource "aws_route_table" "a" {
  vpc_id = aws_vpc.a.id
}

resource "aws_route_table" "inline" {
  vpc_id = aws_vpc.a.id
  route {
    cidr_block                = aws_vpc.b.cidr_block
    vpc_peering_connection_id = local.second ? aws_vpc_peering_connection_accepter.ac.id : aws_vpc_peering_connection.ab.id
  }
}

resource "aws_route" "ab" {
  route_table_id            = aws_route_table.a.id
  destination_cidr_block    = aws_vpc.b.cidr_block
  vpc_peering_connection_id = local.second ? aws_vpc_peering_connection_accepter.ac.id : aws_vpc_peering_connection.ab.id
}

resource "aws_subnet" "a" {
  count             = 2
  vpc_id            = aws_vpc.a.id
  cidr_block        = "10.40.${count.index}.0/24"
  availability_zone = "${data.aws_region.here.region}${["a", "b"][count.index]}"
}

resource "aws_security_group" "door" {
  name   = "door"
  vpc_id = aws_vpc.a.id
}

resource "aws_vpc_endpoint" "gateway" {
  vpc_id          = aws_vpc.a.id
  service_name    = "com.amazonaws.${data.aws_region.here.region}.s3"
  route_table_ids = local.second ? [aws_route_table.a.id] : []
  policy          = local.policy
  tags            = local.tags
}

resource "aws_vpc_endpoint" "interface" {
  vpc_id              = aws_vpc.a.id
  vpc_endpoint_type   = "Interface"
  service_name        = "com.amazonaws.${data.aws_region.here.region}.ssm"
  subnet_ids          = local.second ? aws_subnet.a[*].id : [aws_subnet.a[0].id]
  security_group_ids  = [aws_security_group.door.id]
  private_dns_enabled = local.second
  tags                = local.tags
}

data "aws_vpc_endpoint_service" "s3" {
  service      = "s3"
  service_type = "Gateway"
}

# Not the first peering connection: an import always sets its `auto_accept`.
output "imports" {
  value = {
    "aws_vpc_peering_connection.ac" = aws_vpc_peering_connection.ac.id
    "aws_route.ab"                  = "${aws_route_table.a.id}_${aws_vpc.b.cidr_block}"
    "aws_vpc_endpoint.gateway"      = aws_vpc_endpoint.gateway.id
    "aws_vpc_endpoint.interface"    = aws_vpc_endpoint.interface.id
  }
}
