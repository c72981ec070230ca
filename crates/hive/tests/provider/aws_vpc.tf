data "aws_caller_identity" "me" {}

data "aws_vpc" "default" {
  default = true
}

resource "aws_vpc" "v" {
  cidr_block                           = "10.30.0.0/16"
  assign_generated_ipv6_cidr_block     = local.second
  enable_dns_support                   = local.second
  enable_network_address_usage_metrics = local.second
  tags                                 = local.tags
}

resource "aws_vpc" "w" {
  cidr_block           = "10.32.0.0/16"
  instance_tenancy     = local.second ? "default" : "dedicated"
  enable_dns_hostnames = local.second
}

resource "aws_vpc_ipv4_cidr_block_association" "more" {
  vpc_id     = aws_vpc.v.id
  cidr_block = "10.31.0.0/16"
}

# In the block that was added.
resource "aws_subnet" "s" {
  vpc_id     = aws_vpc_ipv4_cidr_block_association.more.vpc_id
  cidr_block = "10.31.2.0/24"
}

output "imports" {
  value = {
    "aws_vpc.v"                                = aws_vpc.v.id
    "aws_vpc.w"                                = aws_vpc.w.id
    "aws_vpc_ipv4_cidr_block_association.more" = aws_vpc_ipv4_cidr_block_association.more.id
  }
}
