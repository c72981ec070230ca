//! What an account lets others use, and no more of it than that.

#![allow(clippy::unwrap_used)]

mod support;

use hive_ec2::AccountId;
use support::{call, call_as, engine, first, runtime, settled, texts};

const OTHER: &str = "200000000002";

#[test]
fn a_snapshot_is_used_by_those_that_it_is_shared_with() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        engine.prepare(&AccountId::new(OTHER)).await.unwrap();
        let volume = first(&engine, "CreateVolume&Size=2&AvailabilityZone=us-east-1a", "volumeId").await;
        settled(&engine).await;
        let tag = "TagSpecification.1.ResourceType=snapshot&TagSpecification.1.Tag.1.Key=own";
        let snapshot = first(&engine, &format!("CreateSnapshot&VolumeId={volume}&{tag}"), "snapshotId").await;
        let theirs = async |query: &str| call_as(&engine, OTHER, query).await;
        let modify = format!("ModifySnapshotAttribute&SnapshotId={snapshot}");
        let named = format!("DescribeSnapshots&SnapshotId.1={snapshot}");
        let uses = [
            named.clone(),
            format!("CreateVolume&AvailabilityZone=us-east-1a&SnapshotId={snapshot}"),
            format!("CopySnapshot&SourceRegion=us-east-1&SourceSnapshotId={snapshot}"),
        ];
        for (give, take) in [
            (
                format!("{modify}&CreateVolumePermission.Add.1.UserId={OTHER}"),
                format!("{modify}&CreateVolumePermission.Remove.1.UserId={OTHER}"),
            ),
            (
                format!("{modify}&Attribute=createVolumePermission&OperationType=add&UserGroup.1=all"),
                format!("ResetSnapshotAttribute&SnapshotId={snapshot}&Attribute=createVolumePermission"),
            ),
        ] {
            for query in &uses {
                assert_eq!(theirs(query).await.unwrap_err().code, "InvalidSnapshot.NotFound", "{query}");
            }
            call(&engine, &give).await.unwrap();
            for query in &uses {
                theirs(query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
            }
            let seen = theirs(&named).await.unwrap();
            assert_eq!(texts(&seen, "ownerId"), [support::ACCOUNT]);
            assert_eq!(texts(&seen, "key"), Vec::<String>::new());
            let own = theirs("DescribeSnapshots&Owner.1=self").await.unwrap();
            assert!(!own.contains(&snapshot));
            for query in [
                format!("DeleteSnapshot&SnapshotId={snapshot}"),
                format!("{modify}&UserId.1={OTHER}"),
                format!("DescribeSnapshotAttribute&SnapshotId={snapshot}&Attribute=createVolumePermission"),
            ] {
                assert_eq!(theirs(&query).await.unwrap_err().code, "UnauthorizedOperation", "{query}");
            }
            call(&engine, &take).await.unwrap();
        }
    });
}

#[test]
fn who_may_use_a_snapshot_is_told_and_who_cannot_be_meant_is_refused() {
    runtime().block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).await;
        let make = "CreateVolume&Size=2&AvailabilityZone=us-east-1a";
        let plain = first(&engine, make, "volumeId").await;
        let secret = first(&engine, &format!("{make}&Encrypted=true"), "volumeId").await;
        settled(&engine).await;
        let plain = first(&engine, &format!("CreateSnapshot&VolumeId={plain}"), "snapshotId").await;
        let secret = first(&engine, &format!("CreateSnapshot&VolumeId={secret}"), "snapshotId").await;
        let modify = format!("ModifySnapshotAttribute&SnapshotId={plain}");
        call(&engine, &format!("{modify}&UserId.1={OTHER}&UserGroup.1=all")).await.unwrap();
        let describe = format!("DescribeSnapshotAttribute&SnapshotId={plain}");
        let told = call(&engine, &format!("{describe}&Attribute=createVolumePermission")).await.unwrap();
        assert_eq!((texts(&told, "group"), texts(&told, "userId")), (vec!["all".into()], vec![OTHER.into()]));
        let codes = call(&engine, &format!("{describe}&Attribute=productCodes")).await.unwrap();
        assert_eq!(texts(&codes, "productCodes"), [""]);
        for by in ["all", OTHER, "self"] {
            let found = format!("DescribeSnapshots&Owner.1=self&RestorableBy.1={by}");
            assert!(call(&engine, &found).await.unwrap().contains(&plain), "{by}");
        }
        let secretly = format!("ModifySnapshotAttribute&SnapshotId={secret}&UserId.1={OTHER}");
        for (code, query) in [
            ("OperationNotPermitted", secretly.clone()),
            ("InvalidParameterValue", format!("{modify}&UserId.1=me")),
            ("InvalidParameterValue", format!("{modify}&UserGroup.1=some")),
            ("InvalidParameterValue", format!("{modify}&Attribute=productCodes&UserGroup.1=all")),
            ("MissingParameter", modify.clone()),
            (
                "InvalidParameterValue",
                format!("ResetSnapshotAttribute&SnapshotId={plain}&Attribute=productCodes"),
            ),
        ] {
            assert_eq!(call(&engine, &query).await.unwrap_err().code, code, "{query}");
        }
        call(&engine, &format!("{secretly}&OperationType=remove")).await.unwrap();
    });
}
