-- What was read in each city, minute by minute. Instants are UTC.

CREATE TABLE weather (
    city VARCHAR(255) NOT NULL,
    avg_temperature DOUBLE PRECISION,
    window_start TIMESTAMP,
    window_end TIMESTAMP,
    record_count BIGINT,
    last_updated TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (city, window_start)
);

-- Who looks asks for the newest minutes of all cities.
create index weather_window_start on weather (window_start);

-- Up to which batch of the lake's table its rows are those. It changes in the same transactions.
create table consumed (
    lake_table text primary key,
    epoch bigint not null,
    batch bigint not null
);

insert into consumed values ('analytics.weather_by_minute', 0, 0);
