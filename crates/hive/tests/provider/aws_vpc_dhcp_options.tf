resource "aws_vpc" "v" {
  cidr_block = "10.30.0.0/16"
}

resource "aws_vpc_dhcp_options" "d" {
  domain_name         = "example.internal"
  domain_name_servers = ["10.30.0.2", "10.30.0.3"]
  ntp_servers         = ["10.30.0.4"]
  tags                = local.tags
}

resource "aws_vpc_dhcp_options_association" "d" {
  vpc_id          = aws_vpc.v.id
  dhcp_options_id = aws_vpc_dhcp_options.d.id
}

output "imports" {
  value = {
    "aws_vpc_dhcp_options.d"             = aws_vpc_dhcp_options.d.id
    "aws_vpc_dhcp_options_association.d" = aws_vpc.v.id
  }
}
