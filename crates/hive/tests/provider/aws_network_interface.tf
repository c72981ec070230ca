resource "aws_vpc" "v" {
  cidr_block = "10.30.0.0/16"
}

resource "aws_subnet" "s" {
  vpc_id            = aws_vpc.v.id
  cidr_block        = "10.30.1.0/24"
  availability_zone = "${local.region}a"
}

resource "aws_security_group" "s" {
  count  = 2
  name   = "group-${count.index}"
  vpc_id = aws_vpc.v.id
}

resource "aws_instance" "i" {
  count         = 2
  ami           = data.aws_ami.linux.id
  instance_type = "t3.small"
  subnet_id     = aws_subnet.s.id
  private_ip    = "10.30.1.1${count.index}"

  # A card that is added later adds its groups to what the provider reads.
  lifecycle {
    ignore_changes = [secondary_private_ips]
  }
}

resource "aws_network_interface" "n" {
  subnet_id         = aws_subnet.s.id
  description       = local.second ? "second" : "first"
  private_ips       = local.second ? ["10.30.1.50", "10.30.1.51"] : ["10.30.1.50"]
  security_groups   = slice(aws_security_group.s[*].id, 0, local.second ? 2 : 1)
  source_dest_check = !local.second
  tags              = local.tags
}

resource "aws_network_interface_attachment" "n" {
  instance_id          = aws_instance.i[0].id
  network_interface_id = aws_network_interface.n.id
  device_index         = 1
}

# Not among addresses that are named: its own may be any.
resource "aws_subnet" "any" {
  vpc_id            = aws_vpc.v.id
  cidr_block        = "10.30.2.0/24"
  availability_zone = "${local.region}a"
}

resource "aws_network_interface" "o" {
  subnet_id         = aws_subnet.any.id
  private_ips_count = local.second ? 2 : 1

  attachment {
    instance     = aws_instance.i[local.second ? 1 : 0].id
    device_index = local.second ? 3 : 2
  }
}

output "imports" {
  value = {
    "aws_network_interface.n"            = aws_network_interface.n.id
    "aws_network_interface_attachment.n" = aws_network_interface_attachment.n.attachment_id
  }
}
