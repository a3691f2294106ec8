"""trafficmock.history"""
