import hpagent from "hpagent";
import HttpsProxyAgent5 from "https-proxy-agent5";
import { HttpsProxyAgent as HttpsProxyAgent7 } from "https-proxy-agent7";
import { HttpsProxyAgent as HttpsProxyAgent9 } from "https-proxy-agent9";
import { ProxyAgent } from "proxy-agent";
import { SocksProxyAgent } from "socks-proxy-agent";
import tunnel from "tunnel";

/** Makers of agents that open an encrypted connection through a proxy, by library. */
export const secureAgents = ({ proxy, proxyPort }) => ({
  "https-proxy-agent 5": () => new HttpsProxyAgent5(proxy),
  "https-proxy-agent 7": () => new HttpsProxyAgent7(proxy),
  "https-proxy-agent 9": () => new HttpsProxyAgent9(proxy),
  "socks-proxy-agent": () => new SocksProxyAgent(`socks5h://127.0.0.1:${proxyPort}`),
  "proxy-agent": () => new ProxyAgent({ getProxyForUrl: () => proxy }),
  hpagent: () => new hpagent.HttpsProxyAgent({ proxy }),
  tunnel: () => tunnel.httpsOverHttp({ proxy: { host: "127.0.0.1", port: proxyPort } }),
});
