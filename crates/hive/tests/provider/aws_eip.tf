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

resource "aws_network_interface" "n" {
  count       = 4
  subnet_id   = aws_subnet.s.id
  private_ips = ["10.30.1.${count.index + 5}0", "10.30.1.${count.index + 5}1"]
}

resource "aws_instance" "i" {
  count         = 4
  ami           = data.aws_ami.linux.id
  instance_type = "t3.micro"
  subnet_id     = aws_subnet.s.id
  private_ip    = "10.30.1.1${count.index}"
}

resource "aws_eip" "e" {
  domain = "vpc"
  tags   = local.tags
}

resource "aws_eip_association" "e" {
  allocation_id        = aws_eip.e.id
  network_interface_id = aws_network_interface.n[0].id
  private_ip_address   = "10.30.1.51"
  depends_on           = [aws_internet_gateway.g]
}

resource "aws_eip" "card" {
  domain            = "vpc"
  network_interface = aws_network_interface.n[local.second ? 2 : 1].id
  depends_on        = [aws_internet_gateway.g]
}

resource "aws_eip" "named" {
  domain                    = "vpc"
  network_interface         = aws_network_interface.n[3].id
  associate_with_private_ip = local.second ? "10.30.1.81" : "10.30.1.80"
  depends_on                = [aws_internet_gateway.g]
}

resource "aws_eip" "machine" {
  domain                    = "vpc"
  instance                  = aws_instance.i[local.second ? 1 : 0].id
  associate_with_private_ip = aws_instance.i[local.second ? 1 : 0].private_ip
  depends_on                = [aws_internet_gateway.g]
}

# The provider names the interface of the first instance beside the second one.
resource "aws_eip" "moved" {
  domain     = "vpc"
  instance   = aws_instance.i[local.second ? 3 : 2].id
  depends_on = [aws_internet_gateway.g]
}

output "imports" {
  value = {
    "aws_eip.e"             = aws_eip.e.id
    "aws_eip_association.e" = aws_eip_association.e.id
  }
}
