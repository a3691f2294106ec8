"use strict";

const textOf = (response) => response.text();
const codeOf = (error) => error.cause.code;

module.exports = () => fetch("http://api.shop.test/price").then(textOf, codeOf);
