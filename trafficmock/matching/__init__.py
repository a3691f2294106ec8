"""trafficmock.matching"""
