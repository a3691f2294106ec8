import main from "./src/config.js";

export const { attached, proxyServer } = main;
