// java Shop.java 8000
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.Executors;

class Shop {
    public static void main(String[] arguments) throws Exception {
        var client = HttpClient.newHttpClient();
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", inbound -> {
            var outbound = HttpRequest.newBuilder(URI.create(System.getenv("PRICES")));
            var baggage = inbound.getRequestHeaders().getFirst("baggage");
            if (baggage != null) outbound.header("baggage", baggage);
            try {
                var price = client.send(outbound.build(), BodyHandlers.ofByteArray()).body();
                inbound.sendResponseHeaders(200, price.length);
                inbound.getResponseBody().write(price);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            } finally {
                inbound.close();
            }
        });
        server.start();
    }
}
