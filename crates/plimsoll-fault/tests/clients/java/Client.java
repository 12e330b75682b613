import eu.rekawek.toxiproxy.Proxy;
import eu.rekawek.toxiproxy.ToxiproxyClient;
import eu.rekawek.toxiproxy.model.Toxic;
import eu.rekawek.toxiproxy.model.ToxicDirection;
import eu.rekawek.toxiproxy.model.ToxicList;
import eu.rekawek.toxiproxy.model.toxic.Latency;
import eu.rekawek.toxiproxy.model.toxic.LimitData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Drives a server with Maven's toxiproxy-java and observes each effect through the proxy.
 *
 * <p>Usage: Client HOST:PORT
 */
final class Client {
    private static final int PATIENCE_MS = 10_000;
    private static int failures = 0;

    private final ToxiproxyClient toxiproxy;
    private final Echo echo = new Echo();
    private final Echo other = new Echo();
    private Proxy proxy;

    private Client(String host, int port) throws IOException {
        toxiproxy = new ToxiproxyClient(host, port);
    }

    public static void main(String[] arguments) throws IOException {
        int colon = arguments[0].lastIndexOf(':');
        new Client(arguments[0].substring(0, colon), Integer.parseInt(arguments[0].substring(colon + 1))).run();
        System.exit(failures > 0 ? 1 : 0);
    }

    private void run() throws IOException {
        Proxy left = toxiproxy.getProxyOrNull("java");
        if (left != null) {
            left.delete();
        }

        check("version", () -> expect(toxiproxy.version().contains("version"), toxiproxy.version()));

        check("create", () -> {
            proxy = toxiproxy.createProxy("java", "127.0.0.1:0", echo.address);
            expect(proxy.isEnabled() && !proxy.getListen().endsWith(":0"), proxy.getListen());
            passes();
        });

        check("list and get", () -> {
            Proxy found = toxiproxy.getProxy("java");
            expect(found.getListen().equals(proxy.getListen()), found.getListen());
            expect(found.getUpstream().equals(echo.address), found.getUpstream());
            expect(toxiproxy.getProxies().stream().anyMatch(each -> each.getName().equals("java")), "a list without it");
        });

        checkToxics(ToxicDirection.UPSTREAM);
        checkToxics(ToxicDirection.DOWNSTREAM);

        check("toxics are listed", () -> {
            Latency latency = proxy.toxics().latency("listed", ToxicDirection.UPSTREAM, 7).setJitter(3);
            latency.setToxicity(0.5f);
            Latency found = proxy.toxics().get("listed", Latency.class);
            expect(found.getLatency() == 7 && found.getJitter() == 3, found);
            expect(found.getStream() == ToxicDirection.UPSTREAM && found.getToxicity() == 0.5f, found);
            expect(proxy.toxics().getAll().size() == 1, proxy.toxics().getAll());
            latency.remove();
        });

        check("disable and enable", () -> {
            proxy.disable();
            expect(!toxiproxy.getProxy("java").isEnabled(), "an enabled proxy");
            expectRefused();
            proxy.enable();
            passes();
        });

        check("update of the upstream", () -> {
            proxy.setUpstream(other.address);
            exchange("moved", Integer.MAX_VALUE, true);
            other.receivedFrom("moved");
            proxy.setUpstream(echo.address);
            passes();
        });

        check("reset", () -> {
            proxy.toxics().limitData("forgotten", ToxicDirection.DOWNSTREAM, 1);
            proxy.disable();
            toxiproxy.reset();
            expect(proxy.toxics().getAll().isEmpty(), proxy.toxics().getAll());
            passes();
        });

        check("refusals", () -> {
            expectThrown(() -> toxiproxy.createProxy("java", "127.0.0.1:0", echo.address));
            expectThrown(() -> toxiproxy.getProxy("absent"));
            expectThrown(() -> proxy.toxics().get("absent"));
        });

        check("delete", () -> {
            proxy.delete();
            expect(toxiproxy.getProxyOrNull("java") == null, "it still");
            expectRefused();
        });
    }

    private void checkToxics(ToxicDirection stream) {
        checkToxic("latency", stream, toxics -> toxics.latency("it", stream, 100), () -> {
            Outcome seen = exchange("late", 4, false);
            expect(seen.data.equals("late") && seen.milliseconds >= 100, seen);
        });

        checkToxic("bandwidth", stream, toxics -> toxics.bandwidth("it", stream, 20), () -> {
            Outcome seen = exchange("b".repeat(4000), 4000, false);
            expect(seen.data.length() == 4000 && seen.milliseconds >= 200, seen);
        });

        checkToxic("slow_close", stream, toxics -> toxics.slowClose("it", stream, 200), () -> {
            Outcome seen = exchange("", Integer.MAX_VALUE, true);
            expect(seen.end.equals("closed") && seen.milliseconds >= 200, seen);
        });

        checkToxic("timeout", stream, toxics -> toxics.timeout("it", stream, 200), () -> {
            Outcome seen = exchange("lost", Integer.MAX_VALUE, false);
            expect(seen.data.isEmpty() && seen.milliseconds >= 200, seen);
        });

        checkToxic("reset_peer", stream, toxics -> toxics.resetPeer("it", stream, 100), () -> {
            Outcome seen = exchange("lost", Integer.MAX_VALUE, false);
            expect(seen.end.equals("reset") && seen.milliseconds >= 100, seen);
        });

        // 1000 bytes in pieces of at most 100 are at least ten pieces, hence nine delays of 10 ms.
        checkToxic("slicer", stream, toxics -> toxics.slicer("it", stream, 100, 10_000).setSizeVariation(0), () -> {
            String sent = "0123456789".repeat(100);
            Outcome seen = exchange(sent, 1000, false);
            expect(seen.data.equals(sent) && seen.milliseconds >= 90, seen);
        });

        checkToxic("limit_data", stream, toxics -> toxics.limitData("it", stream, 10), () -> {
            Outcome seen = exchange("limit of data in " + stream, Integer.MAX_VALUE, false);
            String received = echo.receivedFrom("limit");
            expect((stream == ToxicDirection.UPSTREAM ? received : seen.data).equals("limit of d"), seen + ", " + received);
        });

        checkToxic("toxicity 0, then an update,", stream, toxics -> toxics.limitData("it", stream, 10), () -> {
            LimitData toxic = proxy.toxics().get("it", LimitData.class);
            toxic.setToxicity(0);
            Outcome spared = exchange("t".repeat(25), 25, false);
            expect(spared.data.length() == 25, spared);

            toxic.setToxicity(1);
            toxic.setBytes(20);
            Outcome seen = exchange("updated to a limit in " + stream, Integer.MAX_VALUE, false);
            String received = echo.receivedFrom("updated");
            String passed = stream == ToxicDirection.UPSTREAM ? received : seen.data;
            expect(passed.equals("updated to a limit i"), seen + ", " + received);
        });
    }

    private void checkToxic(String name, ToxicDirection stream, Addition addition, Act act) {
        check(name + " " + stream.name().toLowerCase(), () -> {
            Toxic toxic = addition.to(proxy.toxics());
            try {
                act.run();
            } finally {
                toxic.remove();
            }
        });
    }

    private void passes() throws IOException {
        Outcome seen = exchange("through", 7, false);
        expect(seen.data.equals("through"), seen);
    }

    private void expectRefused() throws IOException {
        Outcome seen = exchange("", Integer.MAX_VALUE, false);
        expect(seen.end.equals("refused"), seen);
    }

    /** Sends, closes its half if {@code finish}, and reads until {@code expected} bytes are there, or to the end. */
    private Outcome exchange(String sent, int expected, boolean finish) throws IOException {
        String listen = proxy.getListen();
        int colon = listen.lastIndexOf(':');
        long start = System.nanoTime();
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        String end = "open";
        try (Socket socket = new Socket(listen.substring(0, colon), Integer.parseInt(listen.substring(colon + 1)))) {
            socket.setSoTimeout(PATIENCE_MS);
            socket.getOutputStream().write(sent.getBytes(StandardCharsets.US_ASCII));
            if (finish) {
                socket.shutdownOutput();
            }
            byte[] piece = new byte[65536];
            while (data.size() < expected && end.equals("open")) {
                int length = socket.getInputStream().read(piece);
                if (length < 0) {
                    end = "closed";
                } else {
                    data.write(piece, 0, length);
                }
            }
        } catch (ConnectException error) {
            end = "refused";
        } catch (SocketException error) {
            end = "reset";
        }
        long milliseconds = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        return new Outcome(data.toString(StandardCharsets.US_ASCII), milliseconds, end);
    }

    private static void check(String name, Act act) {
        try {
            act.run();
            System.out.println("ok " + name);
        } catch (Exception error) {
            failures += 1;
            System.out.printf("FAILED %s: %.300s%n", name, error);
        }
    }

    private static void expect(boolean condition, Object seen) {
        if (!condition) {
            throw new IllegalStateException("saw " + seen);
        }
    }

    private static void expectThrown(Act act) throws Exception {
        try {
            act.run();
        } catch (IOException expected) {
            return;
        }
        throw new IllegalStateException("no IOException");
    }

    private interface Act {
        void run() throws Exception;
    }

    private interface Addition {
        Toxic to(ToxicList toxics) throws IOException;
    }

    private record Outcome(String data, long milliseconds, String end) {}

    /** A server on an ephemeral port that sends back what it gets; {@code received} holds the bytes of each ended connection. */
    private static final class Echo {
        private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
        private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        final String address = "127.0.0.1:" + listener.getLocalPort();

        Echo() throws IOException {
            start(() -> {
                while (true) {
                    Socket connection = listener.accept();
                    start(() -> serve(connection));
                }
            });
        }

        /** Bytes of the next ended connection that began with {@code first}; others may end late. */
        String receivedFrom(String first) throws InterruptedException {
            while (true) {
                String next = received.poll(PATIENCE_MS, TimeUnit.MILLISECONDS);
                expect(next != null, "no connection that began with " + first);
                if (next.startsWith(first)) {
                    return next;
                }
            }
        }

        private void serve(Socket connection) throws IOException {
            ByteArrayOutputStream data = new ByteArrayOutputStream();
            try (connection) {
                byte[] piece = new byte[65536];
                int length;
                while ((length = connection.getInputStream().read(piece)) >= 0) {
                    data.write(piece, 0, length);
                    connection.getOutputStream().write(piece, 0, length);
                }
            } catch (SocketException aborted) {
                // What came before the reset counts all the same.
            }
            received.add(data.toString(StandardCharsets.US_ASCII));
        }

        private static void start(Act act) {
            Thread thread = new Thread(() -> {
                try {
                    act.run();
                } catch (Exception error) {
                    throw new IllegalStateException(error);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
    }
}
