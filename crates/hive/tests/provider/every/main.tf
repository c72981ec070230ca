# Every resource of the provider that Hive promises, beyond those of examples/hive. `step` 1 is how it is made,
# step 2 changes everything that can be changed in place.

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

variable "public_key" {
  type = string
}

locals {
  second = var.step == 2
  tags   = local.second ? { Step = "two", Added = "yes" } : { Step = "one", Gone = "soon" }
}

data "aws_caller_identity" "me" {}

data "aws_region" "here" {}

data "aws_ami" "linux" {
  owners      = ["amazon"]
  most_recent = true
  filter {
    name   = "name"
    values = ["amzn2-ami-minimal-hvm-*"]
  }
  filter {
    name   = "root-device-type"
    values = ["ebs"]
  }
  filter {
    name   = "architecture"
    values = ["x86_64"]
  }
}

data "aws_vpc" "default" {
  default = true
}

resource "aws_vpc" "v" {
  cidr_block                           = "10.30.0.0/16"
  assign_generated_ipv6_cidr_block     = true
  enable_dns_support                   = local.second
  enable_network_address_usage_metrics = local.second
  tags                                 = local.tags
}

# What the first one cannot be changed in: tenancy goes one way only, and its IPv6 block is in use.
resource "aws_vpc" "w" {
  cidr_block                       = "10.32.0.0/16"
  instance_tenancy                 = local.second ? "default" : "dedicated"
  enable_dns_hostnames             = local.second
  assign_generated_ipv6_cidr_block = local.second
}

resource "aws_vpc" "x" {
  cidr_block                       = "10.33.0.0/16"
  assign_generated_ipv6_cidr_block = true
}

resource "aws_vpc_ipv4_cidr_block_association" "more" {
  vpc_id     = aws_vpc.v.id
  cidr_block = "10.31.0.0/16"
}

resource "aws_subnet" "a" {
  vpc_id            = aws_vpc.v.id
  cidr_block        = "10.30.1.0/24"
  availability_zone = "${data.aws_region.here.region}a"
}

# For addresses that are named: those that are chosen elsewhere may be any.
resource "aws_subnet" "named" {
  vpc_id            = aws_vpc.v.id
  cidr_block        = "10.30.2.0/24"
  availability_zone = "${data.aws_region.here.region}a"
}

# Not the one the instance is in: the provider waits ten seconds for each attribute, one after the other.
resource "aws_subnet" "b" {
  vpc_id                                         = aws_vpc_ipv4_cidr_block_association.more.vpc_id
  cidr_block                                     = "10.31.2.0/24"
  ipv6_cidr_block                                = cidrsubnet(aws_vpc.v.ipv6_cidr_block, 8, 1)
  availability_zone                              = "${data.aws_region.here.region}b"
  map_public_ip_on_launch                        = local.second
  private_dns_hostname_type_on_launch            = local.second ? "resource-name" : "ip-name"
  enable_resource_name_dns_a_record_on_launch    = local.second
  enable_resource_name_dns_aaaa_record_on_launch = local.second
  tags                                           = local.tags
}

resource "aws_subnet" "c" {
  vpc_id                          = aws_vpc.x.id
  cidr_block                      = "10.33.1.0/24"
  ipv6_cidr_block                 = cidrsubnet(aws_vpc.x.ipv6_cidr_block, 8, local.second ? 2 : 1)
  assign_ipv6_address_on_creation = local.second
}

resource "aws_subnet" "d" {
  vpc_id          = aws_vpc.x.id
  cidr_block      = "10.33.2.0/24"
  ipv6_cidr_block = cidrsubnet(aws_vpc.x.ipv6_cidr_block, 8, 3)
  enable_dns64    = local.second
}

resource "aws_internet_gateway" "moves" {
  vpc_id = local.second ? aws_vpc.x.id : aws_vpc.w.id
}

resource "aws_internet_gateway" "g" {
  vpc_id = aws_vpc.v.id
  tags   = local.tags
}

resource "aws_route_table" "r" {
  vpc_id = aws_vpc.v.id
  tags   = local.tags
  route {
    cidr_block = local.second ? "203.0.113.0/24" : "198.51.100.0/24"
    gateway_id = aws_internet_gateway.g.id
  }
  route {
    cidr_block           = "192.0.2.0/24"
    gateway_id           = local.second ? null : aws_internet_gateway.g.id
    network_interface_id = local.second ? aws_network_interface.p.id : null
  }
}

resource "aws_route_table" "alone" {
  vpc_id = aws_vpc.v.id
}

resource "aws_route" "out" {
  route_table_id         = aws_route_table.alone.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = local.second ? null : aws_internet_gateway.g.id
  network_interface_id   = local.second ? aws_network_interface.n.id : null
}

resource "aws_route" "out6" {
  route_table_id              = aws_route_table.alone.id
  destination_ipv6_cidr_block = "::/0"
  gateway_id                  = aws_internet_gateway.g.id
}

resource "aws_route_table_association" "a" {
  subnet_id      = aws_subnet.a.id
  route_table_id = local.second ? aws_route_table.alone.id : aws_route_table.r.id
}

resource "aws_main_route_table_association" "m" {
  vpc_id         = aws_vpc.v.id
  route_table_id = aws_route_table.r.id
}

resource "aws_security_group" "s" {
  name        = "every"
  description = "every kind of rule"
  vpc_id      = aws_vpc.v.id
  tags        = local.tags
}

resource "aws_security_group" "peer" {
  name_prefix = "peer-"
  vpc_id      = aws_vpc.v.id
  ingress {
    from_port = local.second ? 8000 : 9000
    to_port   = 9000
    protocol  = "tcp"
    self      = true
  }
  ingress {
    from_port   = -1
    to_port     = -1
    protocol    = "icmp"
    cidr_blocks = ["10.0.0.0/8", "192.168.0.0/16"]
    description = local.second ? "ping" : "old text"
  }
  egress {
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = local.second ? ["10.0.0.0/8"] : ["0.0.0.0/0"]
  }
}

resource "aws_vpc_security_group_ingress_rule" "web" {
  security_group_id = aws_security_group.s.id
  cidr_ipv4         = local.second ? "10.1.0.0/16" : "10.0.0.0/8"
  ip_protocol       = local.second ? "udp" : "tcp"
  from_port         = local.second ? 79 : 80
  to_port           = local.second ? 81 : 80
  description       = local.second ? "web, changed" : "web"
  tags              = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "group" {
  security_group_id            = aws_security_group.s.id
  referenced_security_group_id = local.second ? aws_security_group.old.id : aws_security_group.peer.id
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_ingress_rule" "web6" {
  security_group_id = aws_security_group.s.id
  cidr_ipv6         = local.second ? "fd00::/8" : "::/0"
  ip_protocol       = "-1"
}

resource "aws_vpc_security_group_egress_rule" "out" {
  security_group_id = aws_security_group.s.id
  cidr_ipv4         = local.second ? "10.1.0.0/16" : "10.0.0.0/8"
  ip_protocol       = local.second ? "udp" : "tcp"
  from_port         = local.second ? 79 : 80
  to_port           = local.second ? 81 : 80
}

resource "aws_vpc_security_group_egress_rule" "group" {
  security_group_id            = aws_security_group.s.id
  referenced_security_group_id = local.second ? aws_security_group.old.id : aws_security_group.peer.id
  ip_protocol                  = "-1"
}

resource "aws_vpc_security_group_egress_rule" "all6" {
  security_group_id = aws_security_group.s.id
  cidr_ipv6         = local.second ? "fd00::/8" : "::/0"
  ip_protocol       = "-1"
  description       = local.second ? "near" : "all"
  tags              = local.tags
}

resource "aws_security_group" "old" {
  name   = "old-rules"
  vpc_id = aws_vpc.v.id
}

resource "aws_security_group_rule" "old" {
  security_group_id = aws_security_group.old.id
  type              = "ingress"
  protocol          = "udp"
  from_port         = 53
  to_port           = 53
  cidr_blocks       = ["10.0.0.0/8"]
  description       = local.second ? "names, changed" : "names"
}

resource "aws_key_pair" "k" {
  key_name   = "every"
  public_key = var.public_key
  tags       = local.tags
}

resource "aws_placement_group" "p" {
  name            = "every"
  strategy        = "partition"
  partition_count = 3
  tags            = local.tags
}

resource "aws_network_interface" "n" {
  subnet_id         = aws_subnet.named.id
  description       = local.second ? "second" : "first"
  private_ips       = local.second ? ["10.30.2.50", "10.30.2.51"] : ["10.30.2.50"]
  security_groups   = local.second ? [aws_security_group.s.id, aws_security_group.old.id] : [aws_security_group.s.id]
  source_dest_check = !local.second
  tags              = local.tags
}

resource "aws_network_interface_attachment" "n" {
  instance_id          = aws_instance.i.id
  network_interface_id = aws_network_interface.n.id
  device_index         = 1
}

resource "aws_instance" "i" {
  ami                                  = data.aws_ami.linux.id
  instance_type                        = "t3.micro"
  subnet_id                            = aws_subnet.a.id
  vpc_security_group_ids               = [local.second ? aws_security_group.peer.id : aws_security_group.s.id]
  key_name                             = aws_key_pair.k.key_name
  placement_group                      = aws_placement_group.p.name
  placement_partition_number           = 2
  monitoring                           = local.second
  disable_api_stop                     = false
  instance_initiated_shutdown_behavior = local.second ? "terminate" : "stop"
  source_dest_check                    = !local.second
  tags                                 = local.tags
  volume_tags                          = local.tags

  metadata_options {
    http_tokens                 = local.second ? "required" : "optional"
    http_put_response_hop_limit = local.second ? 2 : 1
    instance_metadata_tags      = local.second ? "enabled" : "disabled"
  }

  maintenance_options {
    auto_recovery = local.second ? "disabled" : "default"
  }

  private_dns_name_options {
    hostname_type = "ip-name"
  }

  ebs_block_device {
    device_name           = "/dev/sdg"
    volume_size           = 2
    delete_on_termination = true
  }

  lifecycle {
    ignore_changes = [associate_public_ip_address]
  }
}

# Another one for the rest of the attributes: the provider changes those of one instance one after the other, and
# waits for each.
resource "aws_instance" "j" {
  ami           = data.aws_ami.linux.id
  instance_type = "t3.micro"
  subnet_id     = aws_subnet.a.id

  credit_specification {
    cpu_credits = local.second ? "standard" : "unlimited"
  }

  root_block_device {
    volume_type           = local.second ? "gp3" : "gp2"
    volume_size           = local.second ? 9 : 8
    iops                  = local.second ? 4000 : null
    throughput            = local.second ? 200 : null
    delete_on_termination = local.second
    tags                  = local.tags
  }
}

resource "aws_instance" "k" {
  ami                   = data.aws_ami.linux.id
  instance_type         = local.second ? "t3.small" : "t3.micro"
  subnet_id             = aws_subnet.named.id
  private_ip            = "10.30.2.9"
  disable_api_stop      = local.second
  secondary_private_ips = local.second ? ["10.30.2.61", "10.30.2.62"] : ["10.30.2.60"]
}

resource "aws_instance" "l" {
  ami                     = data.aws_ami.linux.id
  instance_type           = "m5.large"
  subnet_id               = aws_subnet.a.id
  user_data               = local.second ? "second" : "first"
  disable_api_termination = !local.second

  metadata_options {
    http_protocol_ipv6 = local.second ? "enabled" : "disabled"
  }
}

resource "aws_instance" "m" {
  ami           = data.aws_ami.linux.id
  instance_type = "m5.large"
  subnet_id     = aws_subnet.a.id

  metadata_options {
    http_endpoint = local.second ? "disabled" : "enabled"
  }

  private_dns_name_options {
    hostname_type                        = local.second ? "resource-name" : "ip-name"
    enable_resource_name_dns_a_record    = local.second
    enable_resource_name_dns_aaaa_record = local.second
  }
}

resource "aws_ebs_volume" "attached" {
  availability_zone = "${data.aws_region.here.region}a"
  size              = 1
  type              = local.second ? "gp3" : "gp2"
  iops              = local.second ? 3000 : null
}

resource "aws_volume_attachment" "attached" {
  device_name = "/dev/sdh"
  volume_id   = aws_ebs_volume.attached.id
  instance_id = aws_instance.m.id
}

resource "aws_network_interface" "o" {
  subnet_id         = aws_subnet.a.id
  private_ips_count = local.second ? 2 : 1

  attachment {
    instance     = local.second ? aws_instance.l.id : aws_instance.m.id
    device_index = local.second ? 2 : 1
  }
}

resource "aws_network_interface" "p" {
  subnet_id   = aws_subnet.named.id
  private_ips = ["10.30.2.70", "10.30.2.71"]
}

resource "aws_eip" "e" {
  domain = "vpc"
  tags   = local.tags
}

resource "aws_eip_association" "e" {
  allocation_id = aws_eip.e.id
  instance_id   = aws_instance.i.id
}

resource "aws_eip" "direct" {
  domain            = "vpc"
  network_interface = local.second ? aws_network_interface.o.id : aws_network_interface.n.id
  depends_on        = [aws_internet_gateway.g]
}

resource "aws_eip" "named" {
  domain                    = "vpc"
  network_interface         = aws_network_interface.p.id
  associate_with_private_ip = local.second ? "10.30.2.71" : "10.30.2.70"
  depends_on                = [aws_internet_gateway.g]
}

resource "aws_eip" "machine" {
  domain                    = "vpc"
  instance                  = local.second ? aws_instance.k.id : aws_instance.j.id
  associate_with_private_ip = local.second ? aws_instance.k.private_ip : aws_instance.j.private_ip
  depends_on                = [aws_internet_gateway.g]
}

resource "aws_ebs_volume" "d" {
  availability_zone = "${data.aws_region.here.region}b"
  size              = local.second ? 6 : 5
  type              = "gp3"
  iops              = local.second ? 4000 : 3000
  throughput        = local.second ? 200 : 125
  encrypted         = true
  tags              = local.tags
}

resource "aws_ebs_snapshot" "s" {
  volume_id = aws_ebs_volume.d.id
  tags      = local.tags
}

resource "aws_ebs_volume" "io" {
  availability_zone    = "${data.aws_region.here.region}b"
  size                 = 10
  type                 = "io2"
  iops                 = local.second ? 200 : 100
  multi_attach_enabled = true
}

# Not here: aws_main_route_table_association, which the provider cannot import; aws_key_pair, whose public key it keeps
# only from the configuration, so that an import always replaces it; and the instance with `volume_tags`, which an import
# leaves out of the state, so that it always sets them.
output "imports" {
  value = {
    "aws_instance.j"                           = aws_instance.j.id
    "aws_network_interface_attachment.n"       = aws_network_interface_attachment.n.attachment_id
    "aws_security_group_rule.old"              = "${aws_security_group.old.id}_ingress_udp_53_53_10.0.0.0/8"
    "aws_volume_attachment.attached"           = "/dev/sdh:${aws_ebs_volume.attached.id}:${aws_instance.m.id}"
    "aws_vpc_ipv4_cidr_block_association.more" = aws_vpc_ipv4_cidr_block_association.more.id
    "aws_vpc.v"                                = aws_vpc.v.id
    "aws_subnet.b"                             = aws_subnet.b.id
    "aws_internet_gateway.g"                   = aws_internet_gateway.g.id
    "aws_route_table.r"                        = aws_route_table.r.id
    "aws_route.out6"                           = "${aws_route_table.alone.id}_::/0"
    "aws_route_table_association.a"            = "${aws_subnet.a.id}/${aws_route_table_association.a.route_table_id}"
    "aws_security_group.s"                     = aws_security_group.s.id
    "aws_vpc_security_group_ingress_rule.web"  = aws_vpc_security_group_ingress_rule.web.id
    "aws_vpc_security_group_egress_rule.all6"  = aws_vpc_security_group_egress_rule.all6.id
    "aws_placement_group.p"                    = aws_placement_group.p.id
    "aws_network_interface.n"                  = aws_network_interface.n.id
    "aws_eip.e"                                = aws_eip.e.id
    "aws_eip_association.e"                    = aws_eip_association.e.id
    "aws_ebs_volume.d"                         = aws_ebs_volume.d.id
    "aws_ebs_snapshot.s"                       = aws_ebs_snapshot.s.id
  }
}
