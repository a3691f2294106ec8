# ruby shop.rb 8000
require "net/http"
require "socket"

server = TCPServer.new("127.0.0.1", ARGV[0].to_i)
loop do
  Thread.new(server.accept) do |client|
    client.gets
    inbound = {}
    while (line = client.gets) && line != "\r\n"
      name, value = line.chomp.split(": ", 2)
      inbound[name.downcase] = value
    end
    url = URI(ENV.fetch("PRICES"))
    outbound = Net::HTTP::Get.new(url)
    outbound["baggage"] = inbound["baggage"] if inbound["baggage"]
    price = Net::HTTP.start(url.host, url.port) { |http| http.request(outbound).body }
    client.write("HTTP/1.1 200 OK\r\nContent-Length: #{price.bytesize}\r\nConnection: close\r\n\r\n#{price}")
    client.close
  end
end
