# A test side in Ruby, of Debian's ruby alone: what a worker has to do, see docs/protocol/test-side.md.

require "base64"
require "json"
require "securerandom"
require "socket"
require "timeout"
require "uri"

module TrafficMock
  FEATURES = %w[chain context strict subscribe].freeze
  TIMEOUT = 5 # seconds for an answer of the proxy

  class Error < StandardError; end

  # The messages of one WebSocket connection (RFC 6455), without extensions.
  class Link
    def initialize(url, path = "/ws")
      uri = URI(url)
      @io = TCPSocket.new(uri.host, uri.port)
      @io.write("GET #{path} HTTP/1.1\r\nHost: #{uri.host}:#{uri.port}\r\nUpgrade: websocket\r\n" \
                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
                "Sec-WebSocket-Key: #{Base64.strict_encode64(SecureRandom.bytes(16))}\r\n\r\n")
      head = @io.gets("\r\n\r\n").to_s
      raise Error, "no trafficmock proxy at #{url}: #{head.lines.first}" unless head.start_with?("HTTP/1.1 101")
    rescue SystemCallError => error
      raise Error, "no trafficmock proxy at #{url}: #{error.message}. Start one with 'trafficmock serve'"
    end

    def write(message)
      payload = JSON.generate(message).b
      size = payload.bytesize
      head = if size < 126 then [0x81, 0x80 | size].pack("CC")
             elsif size < 65_536 then [0x81, 0xfe, size].pack("CCn")
             else [0x81, 0xff, size].pack("CCQ>")
             end
      mask = SecureRandom.bytes(4)
      pad = (mask * (size / 4 + 1)).byteslice(0, size)
      @io.write(head + mask + payload.bytes.zip(pad.bytes).map { |a, b| a ^ b }.pack("C*"))
    end

    # Returns the next message, nil at the end of the connection.
    def read
      first, second = @io.read(2)&.bytes
      return nil if second.nil? || first & 0x0f == 8

      size = second & 0x7f
      size = @io.read(2).unpack1("n") if size == 126
      size = @io.read(8).unpack1("Q>") if size == 127
      JSON.parse(@io.read(size))
    rescue IOError, SystemCallError
      nil
    end

    def close = @io.close
  end

  # The connection of a test process; tests of it run one after the other or on several threads.
  class Worker
    def initialize(proxy_url = ENV.fetch("TRAFFICMOCK_PROXY_URL", "http://127.0.0.1:4310"), worker_id = "0")
      @link, @lock = Link.new(proxy_url), Mutex.new
      @waiting, @tests, @worker_id = {}, {}, worker_id
      answer = Queue.new
      @waiting["hello:ok"] = answer
      Thread.new { listen }
      send_message(type: "hello", protocolVersion: 3, packageVersion: "ruby", role: "playwright",
                   workerId: worker_id, features: FEATURES)
      raise Error, "#{proxy_url} is another proxy" unless take(answer, "hello").fetch("features", []).include?("chain")
    end

    def test(title, file)
      test = Test.new(self, title, file)
      @tests[test.id] = test
      ask("test:registered#{test.id}", type: "test:register", testId: test.id, title: title, file: file,
                                       workerId: @worker_id, context: test.context)
      yield test
    ensure
      ask("test:unregistered#{test.id}", type: "test:unregister", testId: test.id)
      @tests.delete(test.id)
      raise Error, test.errors.join("\n") if test.errors.any? && $!.nil?
    end

    # Sends a message, and returns its answer.
    def ask(key, message)
      answer = @waiting[key] = Queue.new
      send_message(message)
      take(answer, message[:type])
    ensure
      @waiting.delete(key)
    end

    def send_message(message) = @lock.synchronize { @link.write(message.compact) }

    def close = @link.close

    private

    def take(answer, what)
      message = Timeout.timeout(TIMEOUT) { answer.pop }
      raise Error, message["message"] if message["type"].end_with?(":error")

      message
    rescue Timeout::Error
      raise Error, "the proxy did not answer #{what} within #{TIMEOUT} s"
    end

    def listen
      while (message = @link.read)
        receive(message)
      end
    end

    def receive(message)
      test = @tests[message["testId"]]
      case message["type"]
      when "ping" then send_message(type: "pong", at: message["at"])
      when "handler:run" then Thread.new { test&.run(message) }
      when "request:claim" then test&.judge(message)
      when "hello:error" then @waiting["hello:ok"] << message
      when "proxy:error"
        refused = @waiting["route:registered#{message['routeId']}"]
        refused ? refused << message : (test ? [test] : @tests.values).each { |each| each.errors << message["message"] }
      else
        id = message["routeId"] || message["fetchId"] || message["testId"]
        @waiting["#{message['type']}#{id}"]&.push(message)
      end
    end
  end

  # One test: its routes, and the errors that fail it.
  class Test
    attr_reader :id, :context, :errors

    def initialize(worker, title, file)
      @worker, @title, @file = worker, title, file
      @id, @context = SecureRandom.uuid, SecureRandom.hex(16)
      @functions, @predicates, @errors = {}, {}, []
    end

    # The headers that give a request the context of this test.
    def headers = { "baggage" => "trafficmock.test=#{@context}" }

    # Registers a handler for the requests that match a glob or a predicate.
    def route(url, methods: nil, times: nil, &handler)
      register(url, methods, times: times) { |id| @functions[id] = handler }
    end

    # Registers a fixed answer.
    def mock(url, methods: nil, times: nil, **answer)
      register(url, methods, times: times, options: TrafficMock.options(**answer))
    end

    def unroute(id)
      @worker.ask("route:unregistered#{id}", type: "route:unregister", routeId: id)
    end

    def run(message)
      route = Route.new(@worker, message)
      @functions.fetch(message["routeId"]).call(route)
      fail_run(route, "#{route}: the handler returned without a decision") unless route.decided
    rescue StandardError => error
      fail_run(route, "#{error.class}: #{error.message} (#{error.backtrace.first})")
    end

    def judge(message)
      matching = message["routeIds"].select { |id| @predicates[id]&.call(message["request"]["url"]) }
      @worker.send_message(type: "request:claim-result", requestId: message["requestId"], testId: @id,
                           matches: matching.map { |id| { routeId: id } })
    end

    private

    def register(url, methods, **more)
      id = SecureRandom.uuid
      yield id if block_given?
      @predicates[id] = url if url.respond_to?(:call)
      matcher = { urlGlob: @predicates[id] ? nil : url, predicate: @predicates[id] && true, methods: methods }.compact
      place = caller_locations.find { |each| each.path != __FILE__ }
      @worker.ask("route:registered#{id}", type: "route:register", routeId: id, testId: @id, matcher: matcher,
                                           place: "#{File.basename(place.path)}:#{place.lineno}", **more)
      id
    end

    def fail_run(route, text)
      @errors << text
      route.abort("failed", text) unless route.decided
    end
  end

  # One request with a handler, which makes one decision.
  class Route
    attr_reader :decided, :request

    def initialize(worker, run)
      @worker, @run, @request, @decided = worker, run, run["request"], false
    end

    def to_s = "#{request['method']} #{request['url']}"

    def body = Base64.decode64(request["bodyBase64"].to_s)

    def fulfill(**answer)
      decide(action: "written", call: "fulfill", options: TrafficMock.options(**answer))
    end

    def continue(**changes)
      decide(action: "continue", overrides: overrides(**changes))
    end

    def fallback(**changes)
      decide(action: "fallback", overrides: overrides(**changes))
    end

    def abort(code = "failed", message = nil)
      decide({ action: "abort", errorCode: code, message: message }.compact)
    end

    # Sends the request upstream, and returns the response; this is no decision.
    def fetch(**changes)
      id = SecureRandom.uuid
      done = @worker.ask("fetch:done#{id}", result(action: "fetch", fetchId: id, overrides: overrides(**changes)))
      raise Error, done["error"]["message"] unless done["ok"]

      done["response"].merge("body" => Base64.decode64(done["response"]["bodyBase64"].to_s))
    end

    private

    def decide(action)
      raise Error, "#{self}: the route is already handled" if @decided

      @decided = true
      @worker.send_message(result(action))
    end

    def result(action)
      { type: "handler:result", requestId: @run["requestId"], runId: @run["runId"], result: action }
    end

    def overrides(body: nil, **changes)
      body.nil? ? changes : changes.merge(bodyBase64: Base64.strict_encode64(body))
    end
  end

  # The options of an answer as the proxy reads them: bodies are base64.
  def self.options(headers: {}, body: nil, json: nil, **others)
    content = { body: body, json: json && JSON.generate(json) }.compact.transform_values { |text| Base64.strict_encode64(text) }
    { headers: headers.to_a, **content, **others }
  end
end
