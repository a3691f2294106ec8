"""trafficmock.core"""
