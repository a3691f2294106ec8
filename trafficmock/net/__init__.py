"""trafficmock.net"""
