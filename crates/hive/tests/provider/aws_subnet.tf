resource "aws_vpc" "v" {
  cidr_block                       = "10.30.0.0/16"
  assign_generated_ipv6_cidr_block = true
}

# Several, because the provider waits ten seconds for each attribute, one after the other.
resource "aws_subnet" "b" {
  vpc_id                                         = aws_vpc.v.id
  cidr_block                                     = "10.30.1.0/24"
  ipv6_cidr_block                                = cidrsubnet(aws_vpc.v.ipv6_cidr_block, 8, 4)
  availability_zone                              = "${local.region}b"
  private_dns_hostname_type_on_launch            = local.second ? "resource-name" : "ip-name"
  enable_resource_name_dns_aaaa_record_on_launch = local.second
}

resource "aws_subnet" "c" {
  vpc_id                          = aws_vpc.v.id
  cidr_block                      = "10.30.2.0/24"
  ipv6_cidr_block                 = cidrsubnet(aws_vpc.v.ipv6_cidr_block, 8, local.second ? 2 : 1)
  assign_ipv6_address_on_creation = local.second
}

resource "aws_subnet" "d" {
  vpc_id                                      = aws_vpc.v.id
  cidr_block                                  = "10.30.3.0/24"
  ipv6_cidr_block                             = cidrsubnet(aws_vpc.v.ipv6_cidr_block, 8, 3)
  enable_dns64                                = local.second
  enable_resource_name_dns_a_record_on_launch = local.second
}

resource "aws_subnet" "e" {
  vpc_id                  = aws_vpc.v.id
  cidr_block              = "10.30.4.0/24"
  map_public_ip_on_launch = local.second
  tags                    = local.tags
}

output "imports" {
  value = {
    "aws_subnet.b" = aws_subnet.b.id
    "aws_subnet.c" = aws_subnet.c.id
    "aws_subnet.d" = aws_subnet.d.id
    "aws_subnet.e" = aws_subnet.e.id
  }
}
