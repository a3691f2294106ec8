"""trafficmock.wire"""
