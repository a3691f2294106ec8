# Sends a request with three secrets through the proxy, shows it, and writes it to a file.
curl --silent --output answer.txt --proxy "$TRAFFICMOCK_PROXY_URL" \
  --header "Authorization: Bearer t-0815" --data "user=ada&password=p-4711" \
  "$SHOP/login?api_key=k-1234"

trafficmock show
trafficmock har --output login.har
trafficmock har --redact form:user --output login-without-user.har
trafficmock har --redact off --output login-exact.har
