resource "aws_key_pair" "k" {
  key_name   = "key"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtra2tra2tra2tra2tra2tra2tra2tra2tra2tra2tr test"
  tags       = local.tags

  # The provider keeps it from the configuration only: an import would always replace the key.
  lifecycle {
    ignore_changes = [public_key]
  }
}

output "imports" {
  value = {
    "aws_key_pair.k" = aws_key_pair.k.key_name
  }
}
