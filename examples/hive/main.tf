# A small network with one machine in it, on Hive. Nothing here is special to Hive: the endpoint, the keys, the
# region and the CA come from the environment (`eval "$(eos hive env)"`).

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.0"
    }
  }
}

provider "aws" {}

# The default lets nobody in: its private half was thrown away when it was made. Where machines start, give your own.
variable "public_key" {
  description = "Public key in OpenSSH's form that may log in"
  type        = string
  default     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF9sbv77BqLjKyQVete04ZwLKmYimDJ9SY7ThFxeJX/u nobody has the private half"
}

variable "volume_size" {
  description = "Size of the data volume in GiB"
  type        = number
  default     = 10
}

variable "instance_type" {
  type    = string
  default = "t3.micro"
}

locals {
  tags = { Project = "hive-example" }
}

data "aws_ami" "debian" {
  owners      = ["amazon"]
  most_recent = true

  filter {
    name   = "name"
    values = ["debian-12-*"]
  }

  filter {
    name   = "architecture"
    values = ["x86_64"]
  }
}

data "aws_availability_zones" "here" {
  state = "available"
}

resource "aws_vpc" "main" {
  cidr_block           = "10.20.0.0/16"
  enable_dns_hostnames = true
  tags                 = merge(local.tags, { Name = "main" })
}

resource "aws_subnet" "main" {
  vpc_id                  = aws_vpc.main.id
  cidr_block              = "10.20.1.0/24"
  availability_zone       = data.aws_availability_zones.here.names[0]
  map_public_ip_on_launch = true
  tags                    = merge(local.tags, { Name = "main" })
}

resource "aws_internet_gateway" "main" {
  vpc_id = aws_vpc.main.id
  tags   = local.tags
}

resource "aws_route_table" "main" {
  vpc_id = aws_vpc.main.id
  tags   = local.tags

  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.main.id
  }
}

resource "aws_route_table_association" "main" {
  subnet_id      = aws_subnet.main.id
  route_table_id = aws_route_table.main.id
}

resource "aws_security_group" "web" {
  name        = "web"
  description = "SSH and web"
  vpc_id      = aws_vpc.main.id
  tags        = local.tags

  ingress {
    description = "SSH"
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"]
  }

  ingress {
    description      = "web"
    from_port        = 443
    to_port          = 443
    protocol         = "tcp"
    cidr_blocks      = ["0.0.0.0/0"]
    ipv6_cidr_blocks = ["::/0"]
  }

  egress {
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_placement_group" "spread" {
  name     = "hive-example"
  strategy = "spread"
  tags     = local.tags
}

resource "aws_key_pair" "login" {
  key_name   = "hive-example"
  public_key = var.public_key
  tags       = local.tags
}

resource "aws_instance" "web" {
  ami                    = data.aws_ami.debian.id
  instance_type          = var.instance_type
  subnet_id              = aws_subnet.main.id
  vpc_security_group_ids = [aws_security_group.web.id]
  key_name               = aws_key_pair.login.key_name
  placement_group        = aws_placement_group.spread.name
  tags                   = merge(local.tags, { Name = "web" })

  user_data = <<-EOT
    #!/bin/sh
    echo hello
  EOT

  metadata_options {
    http_tokens = "required"
  }

  root_block_device {
    volume_size = 12
    volume_type = "gp3"
  }
}

resource "aws_ebs_volume" "data" {
  availability_zone = aws_subnet.main.availability_zone
  size              = var.volume_size
  type              = "gp3"
  tags              = merge(local.tags, { Name = "data" })
}

resource "aws_volume_attachment" "data" {
  device_name = "/dev/sdf"
  volume_id   = aws_ebs_volume.data.id
  instance_id = aws_instance.web.id
}

output "vpc_id" {
  value = aws_vpc.main.id
}

output "instance_id" {
  value = aws_instance.web.id
}

output "volume_id" {
  value = aws_ebs_volume.data.id
}
