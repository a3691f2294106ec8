<?php
// php -S 127.0.0.1:8000 shop.php
$request = curl_init(getenv("PRICES"));
curl_setopt($request, CURLOPT_RETURNTRANSFER, true);
$baggage = $_SERVER["HTTP_BAGGAGE"] ?? null;
if ($baggage !== null) {
    curl_setopt($request, CURLOPT_HTTPHEADER, ["baggage: $baggage"]);
}
echo curl_exec($request);
