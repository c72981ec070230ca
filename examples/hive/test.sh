#!/usr/bin/env bash
# Makes everything in main.tf, looks at each resource with the aws CLI, changes some, and takes it all away again.
# Needs tofu (or TOFU=terraform), aws, and a gateway whose environment is set: eval "$(eos hive env)"
set -euo pipefail
cd "$(dirname "$0")"

tofu=${TOFU:-tofu}
: "${AWS_ENDPOINT_URL:?first: eval \"\$(eos hive env)\"}"

say() { printf '== %s\n' "$*"; }

# expect WHAT WANTED aws-arguments...: the CLI answers exactly this.
expect() {
  local what=$1 wanted=$2 found
  shift 2
  found=$(aws ec2 "$@" --output text)
  if [ "$found" != "$wanted" ]; then
    printf 'FAILED %s: wanted "%s", found "%s"\n' "$what" "$wanted" "$found" >&2
    exit 1
  fi
  printf 'ok %s: %s\n' "$what" "$found"
}

plan_is_empty() {
  local code=0
  "$tofu" plan -no-color -input=false -detailed-exitcode >plan.log 2>&1 || code=$?
  if [ "$code" -ne 0 ]; then
    cat plan.log >&2
    printf 'FAILED: the plan is not empty (exit %s)\n' "$code" >&2
    exit 1
  fi
  rm plan.log
  printf 'ok the plan is empty\n'
}

say apply
"$tofu" init -no-color -input=false >/dev/null
"$tofu" apply -no-color -input=false -auto-approve
plan_is_empty

say verify
vpc=$("$tofu" output -raw vpc_id)
instance=$("$tofu" output -raw instance_id)
volume=$("$tofu" output -raw volume_id)
root=$(aws ec2 describe-volumes --filters "Name=attachment.instance-id,Values=$instance" Name=attachment.device,Values=/dev/xvda --query 'Volumes[].VolumeId' --output text)
in_vpc="Name=vpc-id,Values=$vpc"
aws ec2 wait vpc-available --vpc-ids "$vpc"
aws ec2 wait instance-running --instance-ids "$instance"
expect "VPC" 10.20.0.0/16 describe-vpcs --vpc-ids "$vpc" --query 'Vpcs[].CidrBlock'
expect "VPC by tag" "$vpc" describe-vpcs --filters Name=tag:Project,Values='hive-ex*' --query 'Vpcs[].VpcId'
expect "subnet" "10.20.1.0/24	True" describe-subnets --filters "$in_vpc" --query 'Subnets[].[CidrBlock,MapPublicIpOnLaunch]'
expect "internet gateway" available describe-internet-gateways --filters "Name=attachment.vpc-id,Values=$vpc" --query 'InternetGateways[].Attachments[].State'
expect "default route" active describe-route-tables --filters "$in_vpc" Name=route.destination-cidr-block,Values=0.0.0.0/0 --query 'RouteTables[].Routes[?DestinationCidrBlock==`0.0.0.0/0`].State | []'
expect "route table of the subnet" "10.20.1.0/24" describe-subnets --subnet-ids "$(aws ec2 describe-route-tables --filters "$in_vpc" Name=route.destination-cidr-block,Values=0.0.0.0/0 --query 'RouteTables[].Associations[?AssociationState.State==`associated`].SubnetId | []' --output text)" --query 'Subnets[].CidrBlock'
expect "security group" "22	443" describe-security-groups --filters "$in_vpc" Name=group-name,Values=web --query 'SecurityGroups[].sort_by(IpPermissions,&FromPort)[].FromPort'
expect "placement group" "spread	available" describe-placement-groups --group-names hive-example --query 'PlacementGroups[].[Strategy,State]'
expect "key pair" hive-example describe-key-pairs --key-names hive-example --query 'KeyPairs[].KeyName'
expect "instance" "t3.micro	hive-example	hive-example	required" describe-instances --instance-ids "$instance" --query 'Reservations[].Instances[].[InstanceType,KeyName,Placement.GroupName,MetadataOptions.HttpTokens]'
expect "volume" "10	gp3	in-use" describe-volumes --volume-ids "$volume" --query 'Volumes[].[Size,VolumeType,State]'
expect "attachment" "$instance	/dev/sdf	attached" describe-volumes --volume-ids "$volume" --query 'Volumes[].Attachments[].[InstanceId,Device,State]'

say change
export TF_VAR_volume_size=20 TF_VAR_instance_type=t3.small
"$tofu" apply -no-color -input=false -auto-approve
plan_is_empty
expect "larger volume" 20 describe-volumes --volume-ids "$volume" --query 'Volumes[].Size'
expect "other type" "t3.small	running" describe-instances --instance-ids "$instance" --query 'Reservations[].Instances[].[InstanceType,State.Name]'

say destroy
"$tofu" destroy -no-color -input=false -auto-approve
expect "VPCs left" "" describe-vpcs --filters Name=tag:Project,Values=hive-example --query 'Vpcs[].VpcId'
# In an account of its own or beside others: what was made here is gone, the disk that came with the instance, too.
expect "volumes left" "" describe-volumes --filters "Name=volume-id,Values=$volume,$root" --query 'Volumes[].VolumeId'
expect "instances left" terminated describe-instances --instance-ids "$instance" --query 'Reservations[].Instances[].State.Name'
say "done"
