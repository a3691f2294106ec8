// java.net.http.HttpClient, which reads no environment: proxy and credentials are given to it,
// the trust store by JAVA_TOOL_OPTIONS.

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;

public class WithHttpClient {
    static final byte[] PIECE = "0123456789abcdef".repeat(1024).getBytes();

    static HttpClient client(HttpClient.Redirect redirect) {
        HttpClient.Builder made = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(redirect)
            .connectTimeout(Duration.ofSeconds(20));
        if (System.getenv("HTTP_PROXY") == null) return made.build();
        URI proxy = URI.create(System.getenv("HTTP_PROXY"));
        String[] user = (proxy.getUserInfo() + ":").split(":", -1);
        return made
            .proxy(ProxySelector.of(new InetSocketAddress(proxy.getHost(), proxy.getPort())))
            .authenticator(new Authenticator() {
                protected PasswordAuthentication getPasswordAuthentication() {
                    return new PasswordAuthentication(user[0], user[1].toCharArray());
                }
            })
            .build();
    }

    static final HttpClient STAYS = client(HttpClient.Redirect.NEVER);
    static final HttpClient FOLLOWS = client(HttpClient.Redirect.ALWAYS);
    // One of its own: Java 17 would send the handshake over a connection that it keeps for
    // proxied requests, with a target that is no URL.
    static final HttpClient SOCKETS = client(HttpClient.Redirect.NEVER);

    static String http(String mode, String method, String url, String headers, String body)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
        for (String line : headers.split("\u001f")) {
            if (line.isEmpty()) continue;
            String name = line.substring(0, line.indexOf(':'));
            if (name.equalsIgnoreCase("expect")) request.expectContinue(true);
            else request.header(name, line.substring(line.indexOf(':') + 1));
        }
        HttpRequest.BodyPublisher publisher = BodyPublishers.noBody();
        if (body.startsWith("t:")) publisher = BodyPublishers.ofString(body.substring(2));
        if (body.startsWith("s:")) {
            long size = Long.parseLong(body.substring(2));
            publisher = BodyPublishers.ofInputStream(() -> new Pieces(size));
        }
        request.method(method, publisher).timeout(Duration.ofSeconds(20));
        HttpClient client = mode.equals("follow") ? FOLLOWS : STAYS;
        HttpResponse<InputStream> response =
            client.send(request.build(), BodyHandlers.ofInputStream());
        return mode.equals("sse") ? events(response.body(), body.substring(2)) : answer(response);
    }

    static String answer(HttpResponse<InputStream> response) throws Exception {
        CRC32 crc = new CRC32();
        long size = 0;
        StringBuilder text = new StringBuilder();
        byte[] buffer = new byte[65536];
        for (int count; (count = response.body().read(buffer)) >= 0; size += count) {
            crc.update(buffer, 0, count);
            if (text.length() < 4000)
                text.append(new String(buffer, 0, count, StandardCharsets.ISO_8859_1));
        }
        List<String> pairs = new ArrayList<>();
        response.headers().map().forEach((name, values) -> values.forEach(
            value -> pairs.add("[" + quoted(name.toLowerCase()) + "," + quoted(value) + "]")));
        return "{\"status\":" + response.statusCode() + ",\"headers\":[" + String.join(",", pairs)
            + "],\"size\":" + size + ",\"crc\":" + crc.getValue() + ",\"text\":"
            + quoted(text.substring(0, Math.min(4000, text.length()))) + "}";
    }

    static String events(InputStream body, String following) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(body));
        List<String> seen = new ArrayList<>();
        for (String line; (line = lines.readLine()) != null; ) {
            if (!line.startsWith("data:")) continue;
            seen.add(quoted(line.substring(5).trim()));
            http("http", "GET", following, "", "-");
        }
        return "{\"events\":[" + String.join(",", seen) + "]}";
    }

    static String websocket(String url) throws Exception {
        Talk talk = new Talk();
        WebSocket socket = SOCKETS.newWebSocketBuilder().subprotocols("other", "chat")
            .connectTimeout(Duration.ofSeconds(20))
            .buildAsync(URI.create(url), talk).get(20, TimeUnit.SECONDS);
        String messages = talk.closed.get(20, TimeUnit.SECONDS);
        return messages.replace("PROTOCOL", quoted(socket.getSubprotocol()));
    }

    static class Talk implements WebSocket.Listener {
        final CompletableFuture<String> closed = new CompletableFuture<>();
        final List<String> messages = new ArrayList<>();

        public void onOpen(WebSocket socket) {
            socket.sendText("text", true);
            socket.request(1);
        }

        public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            messages.add(quoted(data.toString()));
            socket.sendBinary(ByteBuffer.wrap(new byte[] {0, (byte) 255}), true);
            socket.request(1);
            return null;
        }

        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
            byte[] bytes = new byte[data.remaining()];
            data.get(bytes);
            messages.add(quoted(HexFormat.of().formatHex(bytes)));
            socket.sendText("close", true);
            socket.request(1);
            return null;
        }

        public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            closed.complete("{\"messages\":[" + String.join(",", messages)
                + "],\"protocol\":PROTOCOL,\"close\":" + code + ",\"reason\":" + quoted(reason) + "}");
            return null;
        }

        public void onError(WebSocket socket, Throwable error) {
            closed.completeExceptionally(error);
        }
    }

    static class Pieces extends InputStream {
        final long total;
        long left;

        Pieces(long size) { total = left = size; }

        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 255;
        }

        public int read(byte[] buffer, int offset, int length) {
            if (left == 0) return -1;
            int at = (int) ((total - left) % PIECE.length);
            int count = (int) Math.min(Math.min(left, length), PIECE.length - at);
            System.arraycopy(PIECE, at, buffer, offset, count);
            left -= count;
            return count;
        }
    }

    static String reason(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof WebSocketHandshakeException failed)
                return failed.getResponse() + " " + failed.getResponse().headers().map();
        }
        return "";
    }

    static String causes(Throwable error) {
        List<String> names = new ArrayList<>();
        for (Throwable cause = error; cause != null; cause = cause.getCause())
            names.add(quoted(cause.getClass().getSimpleName()));
        return String.join(",", names);
    }

    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c < 32 || c > 126 || c == '"' || c == '\\') out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = orders.readLine()) != null; ) {
            String[] part = line.split("\t", -1);
            String said;
            try {
                said = part[0].equals("ws") ? websocket(part[2])
                    : http(part[0], part[1], part[2], part[3], part[4]);
            } catch (Exception error) {
                said = "{\"error\":" + quoted(error + " " + reason(error))
                    + ",\"causes\":[" + causes(error) + "]}";
            }
            System.out.println(said);
        }
    }
}
