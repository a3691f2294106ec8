import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1]) as answer:
    print(answer.read().decode())
