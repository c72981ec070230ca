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

resource "aws_key_pair" "k" {
  key_name   = "key"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtra2tra2tra2tra2tra2tra2tra2tra2tra2tra2tr test"
}

resource "aws_placement_group" "p" {
  name            = "group"
  strategy        = "partition"
  partition_count = 3
}

# Several, because the provider changes the attributes of one instance one after the other, and waits for each.
resource "aws_instance" "i" {
  ami                                  = data.aws_ami.linux.id
  instance_type                        = "t3.micro"
  subnet_id                            = aws_subnet.s.id
  private_ip                           = "10.30.1.8"
  vpc_security_group_ids               = [aws_security_group.s[local.second ? 1 : 0].id]
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
}

resource "aws_instance" "j" {
  ami           = data.aws_ami.linux.id
  instance_type = "t3.micro"

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
  instance_type         = local.second ? "t3.medium" : "t3.small"
  subnet_id             = aws_subnet.s.id
  private_ip            = "10.30.1.9"
  disable_api_stop      = local.second
  secondary_private_ips = local.second ? ["10.30.1.61", "10.30.1.62"] : ["10.30.1.60"]
}

resource "aws_instance" "l" {
  ami                     = data.aws_ami.linux.id
  instance_type           = "m5.large"
  user_data               = local.second ? "second" : "first"
  disable_api_termination = !local.second

  metadata_options {
    http_protocol_ipv6 = local.second ? "enabled" : "disabled"
  }
}

resource "aws_instance" "m" {
  ami                = data.aws_ami.linux.id
  instance_type      = "m5.large"
  placement_group_id = aws_placement_group.p.placement_group_id

  metadata_options {
    http_endpoint = local.second ? "disabled" : "enabled"
  }

  private_dns_name_options {
    hostname_type                        = local.second ? "resource-name" : "ip-name"
    enable_resource_name_dns_a_record    = local.second
    enable_resource_name_dns_aaaa_record = local.second
  }
}

resource "aws_instance" "n" {
  ami                  = data.aws_ami.linux.id
  instance_type        = "m5.2xlarge"
  iam_instance_profile = local.second ? "two" : "one"

  cpu_options {
    core_count       = local.second ? 4 : 2
    threads_per_core = local.second ? 1 : 2
  }

  capacity_reservation_specification {
    capacity_reservation_preference = local.second ? "none" : "open"
  }
}

# Not here: the one with `volume_tags`, which an import leaves out of the state, so that it always sets them.
output "imports" {
  value = {
    "aws_instance.j" = aws_instance.j.id
    "aws_instance.k" = aws_instance.k.id
    "aws_instance.l" = aws_instance.l.id
    "aws_instance.m" = aws_instance.m.id
    "aws_instance.n" = aws_instance.n.id
  }
}
