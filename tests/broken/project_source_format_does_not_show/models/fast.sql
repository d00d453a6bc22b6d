select * from nightly
