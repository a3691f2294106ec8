# Tests by the Ruby test side: ruby tests/ruby/test_shop.rb. The proxy's URL is TRAFFICMOCK_PROXY_URL; the
# application is a request through the proxy's forward proxy.

require "minitest/autorun"
require "net/http"
require_relative "trafficmock"

class ShopTest < Minitest::Test
  PROXY = URI(ENV.fetch("TRAFFICMOCK_PROXY_URL"))
  UPSTREAM = ENV.fetch("UPSTREAM_URL")

  def setup
    @worker = TrafficMock::Worker.new
  end

  def teardown
    @worker.close
  end

  def mocked(&block)
    @worker.test(name, "test_shop.rb", &block)
  end

  # What the application does, with the context of the test.
  def get(test, url, method: "GET", body: nil)
    uri = URI(url)
    http = Net::HTTP.new(uri.host, uri.port, PROXY.host, PROXY.port)
    http.send_request(method, uri.request_uri, body, test.headers)
  end

  def test_fulfill
    mocked do |test|
      test.route("**/charges") { |route| route.fulfill(status: 402, json: { amount: route.body.to_i }) }
      answer = get(test, "http://payments.test/charges", method: "POST", body: "4200")
      assert_equal ["402", { "amount" => 4200 }], [answer.code, JSON.parse(answer.body)]
    end
  end

  def test_mock_and_times
    mocked do |test|
      test.mock("**/rates", body: "always")
      test.mock("**/rates", body: "twice", times: 2)
      assert_equal %w[twice twice always], Array.new(3) { get(test, "http://bank.test/rates").body }
    end
  end

  def test_handler_times
    mocked do |test|
      test.route("**/rates") { |route| route.fulfill(body: "old") }
      test.route("**/rates", times: 1) { |route| route.fulfill(body: "new") }
      assert_equal %w[new old], Array.new(2) { get(test, "http://bank.test/rates").body }
    end
  end

  def test_fallback
    mocked do |test|
      test.route("**/echo") { |route| route.fulfill(body: "#{route.request['method']} #{route.body}") }
      test.route("**/echo") { |route| route.fallback(method: "PUT", body: "changed") }
      assert_equal "PUT changed", get(test, "http://bank.test/echo", method: "POST", body: "sent").body
    end
  end

  def test_predicate
    mocked do |test|
      test.route(->(url) { url.end_with?("/b") }) { |route| route.fulfill(body: "by predicate") }
      test.mock("http://bank.test/a", body: "by glob")
      assert_equal ["by glob", "by predicate"], %w[a b].map { |page| get(test, "http://bank.test/#{page}").body }
    end
  end

  def test_bad_glob
    mocked do |test|
      error = assert_raises(TrafficMock::Error) { test.mock("**/{a", body: "") }
      assert_match(/no '}' for the '{'/, error.message)
    end
  end

  def test_continue_and_fetch
    mocked do |test|
      test.route("**/page") { |route| route.continue(method: "PUT") }
      assert_equal "PUT /page", get(test, "#{UPSTREAM}/page").body
      test.route("**/page") { |route| route.fulfill(body: route.fetch["body"].upcase + "!") }
      assert_equal "GET /PAGE!", get(test, "#{UPSTREAM}/page").body
    end
  end

  def test_abort_and_unroute
    mocked do |test|
      test.mock("**/page", body: "below")
      id = test.route("**/page", &:abort)
      assert_equal "502", get(test, "http://bank.test/page").code
      test.unroute(id)
      assert_equal "below", get(test, "http://bank.test/page").body
    end
  end

  def test_errors
    error = assert_raises(TrafficMock::Error) do
      mocked do |test|
        test.route("**/raises") { |_| raise "broken" }
        test.route("**/undecided") { |_| nil }
        get(test, "http://bank.test/raises")
        get(test, "http://bank.test/undecided")
      end
    end
    assert_match(/RuntimeError: broken \(.*test_shop\.rb:\d+/, error.message)
    assert_match(%r{GET http://bank\.test/undecided: the handler returned without a decision}, error.message)
  end

  def test_bad_mock
    mocked do |test|
      error = assert_raises(TrafficMock::Error) { test.mock("**", status: 99) }
      assert_match(/status must be an integer from 200 to 999, not 99/, error.message)
    end
  end

  def test_end
    error = assert_raises(TrafficMock::Error) do
      mocked do |test|
        started = Queue.new
        test.route("**/slow") { |_| started << true; sleep }
        Thread.new { get(test, "http://bank.test/slow") rescue nil }
        started.pop
      end
    end
    assert_match(/ended before the handler \(test_shop\.rb:\d+\) decided about GET/, error.message)
  end

  def test_parallel
    threads = Array.new(8) do |number|
      Thread.new do
        @worker.test("parallel #{number}", "test_shop.rb") do |test|
          test.mock("http://bank.test/same", body: "for #{number}")
          get(test, "http://bank.test/same").body
        end
      end
    end
    assert_equal Array.new(8) { |number| "for #{number}" }, threads.map(&:value)
  end
end
