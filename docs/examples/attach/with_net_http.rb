require "net/http"

puts Net::HTTP.get(URI(ARGV[0]))
